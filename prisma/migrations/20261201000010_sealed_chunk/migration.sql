-- Sealed chunks: a UTC hour of a project rewritten into chunks sorted by (endpoint, e2e descending), at most 2,000 requests
-- each. One column a field, one packed value a request (lib/core/packed): narrow, and still readable in SQL.

CREATE TABLE sealed_chunk (
  project_id          uuid        NOT NULL,
  shard_key           smallint    NOT NULL,
  day                 date        NOT NULL,
  chunk_id            uuid        NOT NULL,
  hour                bigint      NOT NULL,  -- start of the UTC hour, seconds since the epoch
  sealed_at           timestamptz NOT NULL,
  received_at         timestamptz NOT NULL,  -- of the newest chunk it was made of
  n                   integer     NOT NULL,
  first_at            bigint      NOT NULL,  -- µs since the epoch
  last_at             bigint      NOT NULL,
  min_e2e             bigint      NOT NULL,  -- µs
  max_e2e             bigint      NOT NULL,
  max_ttft            bigint,
  endpoint            text        NOT NULL,  -- '' when it holds several
  endpoints           text[],                -- then these
  attribute_sets      integer[],             -- distinct attribute_set.code; NULL when there are many
  ids                 bytea,                 -- packed texts; or, when they are of no known shape, id_texts
  id_texts            text[],
  trace_ids           bytea,
  trace_texts         text[],
  session_ids         bytea,
  session_texts       text[],
  started_at          bytea NOT NULL,       -- µs since the epoch
  series              bytea NOT NULL,       -- series.code
  outcome             bytea NOT NULL,       -- index in OUTCOMES
  e2e                 bytea NOT NULL,
  ttft                bytea,
  connection          bytea,
  network             bytea,
  backbone            bytea,
  queue               bytea,
  routing             bytea,
  cold_start          bytea,
  retry               bytea,
  model_hop           bytea,
  model               bytea,
  application         bytea,
  evidence            bytea NOT NULL,       -- place in evidence_values
  decode              bytea,                -- only of requests without a first output, unless decode_told
  service             bytea,
  connection_kind     bytea,                -- index in CONNECTIONS
  round_trips         bytea,
  rtt                 bytea,
  input_tokens        bytea,
  output_tokens       bytea,
  cached_input_tokens bytea,
  in_flight           bytea,
  cache               bytea,                -- index in CACHES
  weight              bytea,                -- NULL = all 1
  attribute_set       bytea,                -- attribute_set.code
  call_count          bytea,
  call_ends           bytea,                -- where the calls of each request end in `calls`
  evidence_values     integer[]   NOT NULL,
  decode_told         boolean     NOT NULL,
  quality             real[],
  calls               bytea,
  call_texts          text[],
  PRIMARY KEY (project_id, shard_key, day, chunk_id)
) PARTITION BY RANGE (day);
CREATE INDEX sealed_chunk_slowest ON sealed_chunk (project_id, shard_key, endpoint, max_e2e DESC);
CREATE INDEX sealed_chunk_hour ON sealed_chunk (project_id, shard_key, hour);

-- Rows of raw that no longer count: a correction wrote a newer one. Gone once their chunk is sealed again.
CREATE TABLE superseded (
  project_id uuid        NOT NULL,
  shard_key  smallint    NOT NULL,
  day        date        NOT NULL,
  chunk_id   uuid        NOT NULL,
  position   integer     NOT NULL,  -- from 1
  id         text        NOT NULL,
  at         timestamptz NOT NULL,
  PRIMARY KEY (project_id, shard_key, day, chunk_id, position)
);

-- One sealer a project at a time.
CREATE TABLE seal_state (
  project_id uuid     NOT NULL,
  shard_key  smallint NOT NULL,
  PRIMARY KEY (project_id, shard_key)
);

-- Short numbers of series and attribute sets, given when they are first sealed: two bytes a request instead of eight.
ALTER TABLE series ADD COLUMN code integer;
ALTER TABLE attribute_set ADD COLUMN code integer;
CREATE UNIQUE INDEX series_code ON series (project_id, shard_key, code);
CREATE UNIQUE INDEX attribute_set_code ON attribute_set (project_id, shard_key, code);

-- Packed numbers (lib/core/packed): byte 0 = width in bytes (bits 0–2), 64 when a code of 0 is NULL, 128 when in
-- thousands; byte 1 = length of the base (0 or 8); the base; one big-endian code a request. `i` counts from 0.
CREATE FUNCTION packed_code(b bytea, i integer) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE get_byte(b, 0) & 7
  WHEN 0 THEN 0
  WHEN 1 THEN get_byte(b, 2 + get_byte(b, 1) + i)
  WHEN 2 THEN (get_byte(b, 2 + get_byte(b, 1) + 2 * i) << 8) | get_byte(b, 3 + get_byte(b, 1) + 2 * i)
  WHEN 3 THEN (get_byte(b, 2 + get_byte(b, 1) + 3 * i) << 16) | (get_byte(b, 3 + get_byte(b, 1) + 3 * i) << 8)
    | get_byte(b, 4 + get_byte(b, 1) + 3 * i)
  ELSE ('x' || lpad(encode(
    substring(b FROM 3 + get_byte(b, 1) + (get_byte(b, 0) & 7) * i FOR get_byte(b, 0) & 7), 'hex'), 16, '0')
  )::bit(64)::bigint
END;

CREATE FUNCTION packed_number(b bytea, i integer) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (
  CASE WHEN get_byte(b, 0) & 64 = 0 THEN packed_code(b, i) ELSE nullif(packed_code(b, i), 0) - 1 END
) * CASE WHEN get_byte(b, 0) & 128 = 0 THEN 1 ELSE 1000 END
  + CASE WHEN get_byte(b, 1) = 0 THEN 0 ELSE ('x' || encode(substring(b FROM 3 FOR 8), 'hex'))::bit(64)::bigint END;

-- Packed texts: byte 0 = 1 for UUIDs, 2 for 32 hexadecimal digits; 16 bytes a request, all zero = NULL.
CREATE FUNCTION packed_text(b bytea, i integer) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE
  WHEN substring(b FROM 2 + 16 * i FOR 16) = '\x00000000000000000000000000000000' THEN NULL
  WHEN get_byte(b, 0) = 1 THEN encode(substring(b FROM 2 + 16 * i FOR 16), 'hex')::uuid::text
  ELSE encode(substring(b FROM 2 + 16 * i FOR 16), 'hex')
END;

-- The same packed numbers or texts with one request left, for reads of single requests.
CREATE FUNCTION packed_slice(b bytea, i integer) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN substring(b FROM 1 FOR 2 + get_byte(substring(b FROM 1 FOR 2), 1))
  || substring(b FROM 3 + get_byte(substring(b FROM 1 FOR 2), 1) + (get_byte(substring(b FROM 1 FOR 1), 0) & 7) * i
               FOR get_byte(substring(b FROM 1 FOR 1), 0) & 7);
CREATE FUNCTION packed_text_slice(b bytea, i integer) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN substring(b FROM 1 FOR 1) || substring(b FROM 2 + 16 * i FOR 16);

-- Raw requests as plain rows, not sealed yet ∪ sealed; what a correction superseded is left out.
CREATE OR REPLACE VIEW timed_request AS
SELECT
  c.project_id,
  c.day,
  c.chunk_id,
  c.received_at,
  r.position,
  r.id,
  to_timestamp(r.started_us / 1000000.0) AS started_at,
  r.started_us,
  s.endpoint,
  s.vantage,
  s.environment,
  s.version,
  s.client_region,
  s.service_region,
  s.provider,
  s.model,
  s.model_region,
  (ARRAY['ok', 'error', 'timeout', 'cancelled'])[r.outcome + 1] AS outcome,
  r.e2e_us,
  r.ttft_us,
  r.connection_us,
  r.network_us,
  r.backbone_us,
  r.queue_us,
  r.routing_us,
  r.cold_start_us,
  r.retry_us,
  r.model_hop_us,
  r.model_us,
  r.application_us,
  coalesce(r.ttft_us, r.e2e_us - coalesce(r.decode_us, 0))
    - coalesce(r.connection_us, 0) - coalesce(r.network_us, 0) - coalesce(r.backbone_us, 0) - coalesce(r.queue_us, 0)
    - coalesce(r.routing_us, 0) - coalesce(r.cold_start_us, 0) - coalesce(r.retry_us, 0) - coalesce(r.model_hop_us, 0)
    - coalesce(r.model_us, 0) - coalesce(r.application_us, 0) AS unattributed_us,
  r.decode_us,
  r.evidence,
  r.service_us,
  (ARRAY['first', 'new', 'reused'])[r.connection_kind + 1] AS connection_kind,
  r.round_trips,
  r.rtt_us,
  r.input_tokens,
  r.output_tokens,
  r.cached_input_tokens,
  r.in_flight,
  (ARRAY['none', 'response', 'semantic', 'prefix'])[r.cache + 1] AS cache,
  r.quality,
  coalesce(r.weight, 1) AS weight,
  r.trace_id,
  r.session_id,
  a.attributes,
  coalesce(r.call_count, 0) AS call_count
FROM hot_chunk c
CROSS JOIN LATERAL unnest(
  c.ids, c.started_at, c.series, c.outcome, c.e2e, c.ttft, c.connection, c.network, c.backbone, c.queue, c.routing,
  c.cold_start, c.retry, c.model_hop, c.model, c.application, c.decode, c.evidence, c.service, c.connection_kind,
  c.round_trips, c.rtt, c.input_tokens, c.output_tokens, c.cached_input_tokens, c.in_flight, c.cache, c.quality,
  c.weight, c.trace_id, c.session_id, c.attribute_set, c.call_count
) WITH ORDINALITY AS r(
  id, started_us, series_id, outcome, e2e_us, ttft_us, connection_us, network_us, backbone_us, queue_us, routing_us,
  cold_start_us, retry_us, model_hop_us, model_us, application_us, decode_us, evidence, service_us, connection_kind,
  round_trips, rtt_us, input_tokens, output_tokens, cached_input_tokens, in_flight, cache, quality, weight, trace_id,
  session_id, attribute_set, call_count, position
)
JOIN series s ON s.project_id = c.project_id AND s.shard_key = c.shard_key AND s.series_id = r.series_id
LEFT JOIN attribute_set a
  ON a.project_id = c.project_id AND a.shard_key = c.shard_key AND a.id = r.attribute_set
WHERE NOT EXISTS (
  SELECT FROM superseded x
  WHERE x.project_id = c.project_id AND x.shard_key = c.shard_key AND x.day = c.day AND x.chunk_id = c.chunk_id
    AND x.position = r.position
)
UNION ALL
SELECT
  c.project_id,
  c.day,
  c.chunk_id,
  c.received_at,
  r.i + 1::bigint AS position,
  coalesce(packed_text(d.ids, r.i), d.id_texts[r.i + 1]) AS id,
  to_timestamp(packed_number(d.started_at, r.i) / 1000000.0) AS started_at,
  packed_number(d.started_at, r.i) AS started_us,
  s.endpoint,
  s.vantage,
  s.environment,
  s.version,
  s.client_region,
  s.service_region,
  s.provider,
  s.model,
  s.model_region,
  (ARRAY['ok', 'error', 'timeout', 'cancelled'])[packed_number(d.outcome, r.i) + 1] AS outcome,
  packed_number(d.e2e, r.i) AS e2e_us,
  packed_number(d.ttft, r.i) AS ttft_us,
  packed_number(d.connection, r.i) AS connection_us,
  packed_number(d.network, r.i) AS network_us,
  packed_number(d.backbone, r.i) AS backbone_us,
  packed_number(d.queue, r.i) AS queue_us,
  packed_number(d.routing, r.i) AS routing_us,
  packed_number(d.cold_start, r.i) AS cold_start_us,
  packed_number(d.retry, r.i) AS retry_us,
  packed_number(d.model_hop, r.i) AS model_hop_us,
  packed_number(d.model, r.i) AS model_us,
  packed_number(d.application, r.i) AS application_us,
  coalesce(packed_number(d.ttft, r.i), packed_number(d.e2e, r.i) - coalesce(packed_number(d.decode, r.i), 0))
    - coalesce(packed_number(d.connection, r.i), 0) - coalesce(packed_number(d.network, r.i), 0)
    - coalesce(packed_number(d.backbone, r.i), 0) - coalesce(packed_number(d.queue, r.i), 0)
    - coalesce(packed_number(d.routing, r.i), 0) - coalesce(packed_number(d.cold_start, r.i), 0)
    - coalesce(packed_number(d.retry, r.i), 0) - coalesce(packed_number(d.model_hop, r.i), 0)
    - coalesce(packed_number(d.model, r.i), 0) - coalesce(packed_number(d.application, r.i), 0) AS unattributed_us,
  CASE WHEN d.decode_told THEN packed_number(d.decode, r.i)
    ELSE coalesce(packed_number(d.e2e, r.i) - packed_number(d.ttft, r.i), packed_number(d.decode, r.i)) END AS decode_us,
  d.evidence_values[packed_number(d.evidence, r.i) + 1] AS evidence,
  packed_number(d.service, r.i) AS service_us,
  (ARRAY['first', 'new', 'reused'])[packed_number(d.connection_kind, r.i) + 1] AS connection_kind,
  packed_number(d.round_trips, r.i)::smallint AS round_trips,
  packed_number(d.rtt, r.i) AS rtt_us,
  packed_number(d.input_tokens, r.i) AS input_tokens,
  packed_number(d.output_tokens, r.i) AS output_tokens,
  packed_number(d.cached_input_tokens, r.i) AS cached_input_tokens,
  packed_number(d.in_flight, r.i)::integer AS in_flight,
  (ARRAY['none', 'response', 'semantic', 'prefix'])[packed_number(d.cache, r.i) + 1] AS cache,
  d.quality[r.i + 1] AS quality,
  coalesce(packed_number(d.weight, r.i), 1) AS weight,
  coalesce(packed_text(d.trace_ids, r.i), d.trace_texts[r.i + 1]) AS trace_id,
  coalesce(packed_text(d.session_ids, r.i), d.session_texts[r.i + 1]) AS session_id,
  a.attributes,
  coalesce(packed_number(d.call_count, r.i), 0)::smallint AS call_count
FROM sealed_chunk c
-- Unpacked from TOAST once a chunk: OFFSET 0 keeps the planner from doing it once a request.
CROSS JOIN LATERAL (
  SELECT
    c.ids || ''::bytea AS ids,
    c.trace_ids || ''::bytea AS trace_ids,
    c.session_ids || ''::bytea AS session_ids,
    c.id_texts || '{}'::text[] AS id_texts,
    c.trace_texts || '{}'::text[] AS trace_texts,
    c.session_texts || '{}'::text[] AS session_texts,
    c.quality || '{}'::real[] AS quality,
    c.evidence_values || '{}'::integer[] AS evidence_values,
    c.decode_told,
    c.started_at || ''::bytea AS started_at,
    c.series || ''::bytea AS series,
    c.outcome || ''::bytea AS outcome,
    c.e2e || ''::bytea AS e2e,
    c.ttft || ''::bytea AS ttft,
    c.connection || ''::bytea AS connection,
    c.network || ''::bytea AS network,
    c.backbone || ''::bytea AS backbone,
    c.queue || ''::bytea AS queue,
    c.routing || ''::bytea AS routing,
    c.cold_start || ''::bytea AS cold_start,
    c.retry || ''::bytea AS retry,
    c.model_hop || ''::bytea AS model_hop,
    c.model || ''::bytea AS model,
    c.application || ''::bytea AS application,
    c.evidence || ''::bytea AS evidence,
    c.decode || ''::bytea AS decode,
    c.service || ''::bytea AS service,
    c.connection_kind || ''::bytea AS connection_kind,
    c.round_trips || ''::bytea AS round_trips,
    c.rtt || ''::bytea AS rtt,
    c.input_tokens || ''::bytea AS input_tokens,
    c.output_tokens || ''::bytea AS output_tokens,
    c.cached_input_tokens || ''::bytea AS cached_input_tokens,
    c.in_flight || ''::bytea AS in_flight,
    c.cache || ''::bytea AS cache,
    c.weight || ''::bytea AS weight,
    c.attribute_set || ''::bytea AS attribute_set,
    c.call_count || ''::bytea AS call_count
  OFFSET 0
) AS d
CROSS JOIN LATERAL generate_series(0, c.n - 1) AS r(i)
JOIN series s ON s.project_id = c.project_id AND s.shard_key = c.shard_key AND s.code = packed_number(d.series, r.i)
LEFT JOIN attribute_set a
  ON a.project_id = c.project_id AND a.shard_key = c.shard_key AND a.code = packed_number(d.attribute_set, r.i)
WHERE NOT EXISTS (
  SELECT FROM superseded x
  WHERE x.project_id = c.project_id AND x.shard_key = c.shard_key AND x.day = c.day AND x.chunk_id = c.chunk_id
    AND x.position = r.i + 1
);
