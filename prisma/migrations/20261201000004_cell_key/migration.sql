-- Keys of roll-up cells, once a project: blocks hold their hash (lib/core/block).
CREATE TABLE cell_key (
  project_id uuid     NOT NULL,
  shard_key  smallint NOT NULL,
  id         bigint   NOT NULL,
  key        text     COLLATE "C" NOT NULL,
  PRIMARY KEY (project_id, shard_key, id)
);

-- Families and blocks have a new form: what was folded is folded again from the raw requests.
DELETE FROM rollup;
INSERT INTO pending (project_id, shard_key, day, chunk_id, n, first_at, last_at, received_at)
  SELECT project_id, shard_key, day, chunk_id, n, first_at, last_at, received_at FROM hot_chunk h
  WHERE NOT EXISTS (SELECT FROM quarantine q WHERE (q.project_id, q.shard_key, q.day, q.chunk_id)
    = (h.project_id, h.shard_key, h.day, h.chunk_id))
  ON CONFLICT DO NOTHING;
