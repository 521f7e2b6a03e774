-- The queue's p10 of each cell over the 7 days before `day`, pinned for that UTC day: the floor of the queue lever.
-- cell: vantage, endpoint and client region as JSON (lib/core/floorInfos).
CREATE TABLE queue_floor (
  project_id uuid     NOT NULL,
  shard_key  smallint NOT NULL,
  cell       text     NOT NULL,
  day        date     NOT NULL,
  p10_us     bigint   NOT NULL,
  n          bigint   NOT NULL,
  PRIMARY KEY (project_id, shard_key, cell)
);
