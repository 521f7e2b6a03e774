-- Endpoint by service region and by model are kept apart: what was folded is folded again from the raw requests.
DELETE FROM rollup;
INSERT INTO pending (project_id, shard_key, day, chunk_id, n, first_at, last_at, received_at)
  SELECT project_id, shard_key, day, chunk_id, n, first_at, last_at, received_at FROM hot_chunk h
  WHERE NOT EXISTS (SELECT FROM quarantine q WHERE (q.project_id, q.shard_key, q.day, q.chunk_id)
    = (h.project_id, h.shard_key, h.day, h.chunk_id))
  ON CONFLICT DO NOTHING;
