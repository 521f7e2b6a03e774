-- What one trace tells of others may come after those were closed: until it is applied to them it is open.
ALTER TABLE replica_start ADD COLUMN received_at timestamptz NOT NULL DEFAULT now();
ALTER TABLE replica_start ADD COLUMN applied boolean NOT NULL DEFAULT false;
UPDATE replica_start SET applied = true;
CREATE INDEX replica_start_open ON replica_start (project_id, shard_key) WHERE NOT applied;

-- Who uses which broker without telling traces of it: a worker whose calls carry no context is known by this alone.
CREATE TABLE broker_use (
  project_id uuid     NOT NULL,
  shard_key  smallint NOT NULL,
  process    text     NOT NULL,
  address    text     NOT NULL,               -- host:port
  sends      boolean  NOT NULL,               -- within a request that calls no model; else it only has a connection
  day        date     NOT NULL,               -- UTC day it was first seen
  applied    boolean  NOT NULL DEFAULT false, -- to traces closed before
  PRIMARY KEY (project_id, shard_key, process, address, sends)
);
CREATE INDEX broker_use_address ON broker_use (project_id, shard_key, address) WHERE sends;
CREATE INDEX broker_use_open ON broker_use (project_id, shard_key) WHERE NOT applied;
