-- What each key sent on a UTC day of receipt: the newest event (as corrected for the clock), and the skew of the sender's
-- clock where it told one. skew = receipt − sending in ms; of posts more than 2 s off, which are the corrected ones.
CREATE TABLE ingest_key_day (
  project_id   uuid        NOT NULL,
  shard_key    smallint    NOT NULL,
  day          date        NOT NULL,
  key_id       uuid        NOT NULL,
  newest_event timestamptz,           -- NULL while nothing of the key was accepted that day
  received_at  timestamptz NOT NULL,  -- the last post that day
  skewed_posts bigint      NOT NULL DEFAULT 0,
  skew_ms_min  bigint,
  skew_ms_max  bigint,
  PRIMARY KEY (project_id, shard_key, day, key_id)
);
