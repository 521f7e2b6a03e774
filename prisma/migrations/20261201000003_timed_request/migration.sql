-- Raw requests as plain rows, for psql, BI and checks: one row a request, one column a field. Durations are integer
-- microseconds; a term that nothing measured is NULL, never 0. unattributed_us closes the sum:
--   Σ terms + unattributed = ttft (or e2e − decode without a first output).
CREATE VIEW timed_request AS
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
  ON a.project_id = c.project_id AND a.shard_key = c.shard_key AND a.id = r.attribute_set;
