-- The round trip (p50) that own probes saw between two regions, pinned for the UTC day `day`.
-- trip: both places as text (lib/core/regions, tripName).
CREATE TABLE probe_trip (
  project_id uuid     NOT NULL,
  shard_key  smallint NOT NULL,
  trip       text     NOT NULL,
  day        date     NOT NULL,
  p50_us     bigint   NOT NULL,
  n          bigint   NOT NULL,
  PRIMARY KEY (project_id, shard_key, trip)
);
