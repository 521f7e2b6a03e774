-- Event tables. The rules of a distributed Postgres hold from here on: every key holds (project_id, shard_key) and the
-- partition column, no enums, no triggers, no foreign keys to configuration tables, ids are uuid v7 or bigint.
-- Partitions (one a UTC day) are made by lib/db/partitions; there is no default partition.

-- One combination of dimensions. The id is a 63-bit hash of them, so no sequence and no look-up is needed to write.
CREATE TABLE series (
  project_id    uuid     NOT NULL,
  shard_key     smallint NOT NULL,
  series_id     bigint   NOT NULL,
  endpoint      text     NOT NULL,
  vantage       text     NOT NULL,
  environment   text,
  version       text,
  client_region text,
  service_region text,
  provider      text,
  model         text,
  model_region  text,
  first_day     date     NOT NULL,
  PRIMARY KEY (project_id, shard_key, series_id)
);

CREATE TABLE attribute_set (
  project_id uuid     NOT NULL,
  shard_key  smallint NOT NULL,
  id         bigint   NOT NULL,
  attributes jsonb    NOT NULL,
  PRIMARY KEY (project_id, shard_key, id)
);
CREATE INDEX attribute_set_attributes ON attribute_set USING gin (attributes jsonb_path_ops);

-- Which posts are stored. day = UTC day of the post's smallest startedAt as sent, so the same re-send meets the same index.
CREATE TABLE ledger (
  project_id  uuid        NOT NULL,
  shard_key   smallint    NOT NULL,
  day         date        NOT NULL,
  key         bytea       NOT NULL,
  received_at timestamptz NOT NULL,
  PRIMARY KEY (project_id, shard_key, day, key)
) PARTITION BY RANGE (day);

-- Source of truth until sealed: one row a flush, project and UTC day; every array holds one element a request
-- (call_* arrays: one a call, call_count tells how many each request has). A column that no request fills is NULL.
CREATE TABLE hot_chunk (
  project_id     uuid        NOT NULL,
  shard_key      smallint    NOT NULL,
  day            date        NOT NULL,
  chunk_id       uuid        NOT NULL,
  received_at    timestamptz NOT NULL,
  n              integer     NOT NULL,
  first_at       bigint      NOT NULL,  -- µs since the epoch
  last_at        bigint      NOT NULL,
  ids            text[]      NOT NULL,
  started_at     bigint[]    NOT NULL,  -- µs since the epoch
  series         bigint[]    NOT NULL,
  outcome        smallint[]  NOT NULL,  -- index in OUTCOMES
  e2e            bigint[]    NOT NULL,  -- µs, as all durations
  ttft           bigint[],
  connection     bigint[],
  network        bigint[],
  backbone       bigint[],
  queue          bigint[],
  routing        bigint[],
  cold_start     bigint[],
  retry          bigint[],
  model_hop      bigint[],
  model          bigint[],
  application    bigint[],
  evidence       integer[]   NOT NULL,
  decode         bigint[],
  service        bigint[],
  connection_kind smallint[],           -- index in CONNECTIONS
  round_trips    smallint[],
  rtt            bigint[],
  input_tokens   bigint[],
  output_tokens  bigint[],
  cached_input_tokens bigint[],
  in_flight      integer[],
  cache          smallint[],            -- index in CACHES
  quality        real[],
  weight         bigint[],              -- NULL = all 1
  trace_id       text[],
  session_id     text[],
  attribute_set  bigint[],
  call_count     smallint[],
  call_stage     text[],
  call_provider  text[],
  call_model     text[],
  call_model_region text[],
  call_start     bigint[],
  call_duration  bigint[],
  call_ttft      bigint[],
  call_hop       bigint[],
  call_provider_queue bigint[],
  call_model_time bigint[],
  call_attempts  smallint[],
  call_input_tokens bigint[],
  call_output_tokens bigint[],
  PRIMARY KEY (project_id, shard_key, day, chunk_id)
) PARTITION BY RANGE (day);

-- Chunks not folded yet: inserted with the chunk, deleted in the transaction that writes the roll-ups.
CREATE TABLE pending (
  project_id  uuid        NOT NULL,
  shard_key   smallint    NOT NULL,
  day         date        NOT NULL,
  chunk_id    uuid        NOT NULL,
  n           integer     NOT NULL,
  first_at    bigint      NOT NULL,
  last_at     bigint      NOT NULL,
  received_at timestamptz NOT NULL,
  attempts    smallint    NOT NULL DEFAULT 0,
  PRIMARY KEY (project_id, shard_key, day, chunk_id)
);

-- A chunk that the fold could not take three times; shown on the trust page.
CREATE TABLE quarantine (
  project_id uuid        NOT NULL,
  shard_key  smallint    NOT NULL,
  day        date        NOT NULL,
  chunk_id   uuid        NOT NULL,
  reason     text        NOT NULL,
  at         timestamptz NOT NULL,
  PRIMARY KEY (project_id, shard_key, day, chunk_id)
);

-- Roll-ups and samples: mergeable cells, packed in key order into blocks (lib/rollup/block). Parts of the same
-- (grouping, tier, family, period) are merged at read and compacted by the fold, eight at a time.
CREATE TABLE rollup (
  project_id uuid     NOT NULL,
  shard_key  smallint NOT NULL,
  grouping   smallint NOT NULL,  -- index in GROUPINGS
  tier       smallint NOT NULL,  -- index in TIERS
  family     smallint NOT NULL,  -- index in FAMILIES
  period     bigint   NOT NULL,  -- start, seconds since the epoch
  part_id    uuid     NOT NULL,
  block      integer  NOT NULL,
  level      smallint NOT NULL,
  first_cell text     COLLATE "C" NOT NULL,
  last_cell  text     COLLATE "C" NOT NULL,
  body       bytea    NOT NULL,
  PRIMARY KEY (project_id, shard_key, grouping, tier, family, period, part_id, block)
);

-- One lock a project for whatever the fold depends on.
CREATE TABLE fold_state (
  project_id     uuid        NOT NULL,
  shard_key      smallint    NOT NULL,
  config_version bigint      NOT NULL DEFAULT 1,
  folded_at      timestamptz,
  PRIMARY KEY (project_id, shard_key)
);

-- What the trust page counts: additive, one row a project, hour and kind.
CREATE TABLE ingest_count (
  project_id uuid        NOT NULL,
  shard_key  smallint    NOT NULL,
  hour       timestamptz NOT NULL,
  kind       text        NOT NULL,  -- accepted, duplicate, late, inconsistent, rejected:<reason>, unknownFields, skewed, …
  count      bigint      NOT NULL,
  PRIMARY KEY (project_id, shard_key, hour, kind)
);
