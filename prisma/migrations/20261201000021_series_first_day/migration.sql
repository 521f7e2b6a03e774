-- How many series a project has had since the start of a day: what the daily cap of series is held against.
CREATE INDEX series_first_day ON series (project_id, shard_key, first_day);
