-- Cells whose stored minimum, maximum or sample lost a request: rebuilt from raw (lib/rollup/repair).
CREATE TABLE rollup_repair (
  project_id uuid     NOT NULL,
  shard_key  smallint NOT NULL,
  grouping   smallint NOT NULL,  -- index in GROUPINGS
  tier       smallint NOT NULL,  -- index in TIERS
  period     bigint   NOT NULL,  -- start, seconds since the epoch
  cell       text     COLLATE "C" NOT NULL,
  PRIMARY KEY (project_id, shard_key, tier, period, grouping, cell)
);

-- From this UTC day on every raw request of the project is still there; NULL: from the first on.
ALTER TABLE fold_state ADD COLUMN raw_from date;
