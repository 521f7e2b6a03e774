-- When replicas of services were starting, as spans tell: one trace shows it, but all wait that the replica served next.
CREATE TABLE replica_start (
  project_id uuid     NOT NULL,
  shard_key  smallint NOT NULL,
  day        date     NOT NULL,  -- UTC day of receipt
  replica    text     NOT NULL,
  start_us   bigint   NOT NULL,  -- µs since the epoch by the replica's own clock
  end_us     bigint   NOT NULL,
  PRIMARY KEY (project_id, shard_key, day, replica, start_us)
);
