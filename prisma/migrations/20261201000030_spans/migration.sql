-- Spans as they came, and what became of their traces. Kept 7 days.

-- One row a flush and project. The body (deflated) holds the spans of one trace side by side; the index tells, per trace,
-- its id, where its spans end in the body, how many they are and whether its root is among them (lib/db/spanChunk).
CREATE TABLE span_chunk (
  project_id  uuid        NOT NULL,
  shard_key   smallint    NOT NULL,
  day         date        NOT NULL,  -- UTC day of receipt
  chunk_id    uuid        NOT NULL,
  received_at timestamptz NOT NULL,
  n           integer     NOT NULL,
  trace_index bytea       NOT NULL,
  origins     bytea       NOT NULL,  -- deflated JSON: the distinct resources and instrumentation names
  body        bytea       NOT NULL,
  PRIMARY KEY (project_id, shard_key, day, chunk_id)
) PARTITION BY RANGE (day);
-- deflated already: do not try again
ALTER TABLE span_chunk ALTER COLUMN trace_index SET STORAGE EXTERNAL;
ALTER TABLE span_chunk ALTER COLUMN origins SET STORAGE EXTERNAL;
ALTER TABLE span_chunk ALTER COLUMN body SET STORAGE EXTERNAL;

-- Chunks that hold spans of traces which are still open: inserted with the chunk, deleted in the transaction that closes
-- the last of their traces.
CREATE TABLE span_pending (
  project_id  uuid        NOT NULL,
  shard_key   smallint    NOT NULL,
  day         date        NOT NULL,
  chunk_id    uuid        NOT NULL,
  received_at timestamptz NOT NULL,
  n           integer     NOT NULL,
  PRIMARY KEY (project_id, shard_key, day, chunk_id)
);

-- Traces that were closed, with or without a request. chunk_ids says which chunks are in it, so that no span counts
-- twice however often a chunk is read again. day = UTC day on which it was first closed.
CREATE TABLE assembled_trace (
  project_id  uuid        NOT NULL,
  shard_key   smallint    NOT NULL,
  trace_id    bytea       NOT NULL,
  day         date        NOT NULL,
  closed_at   timestamptz NOT NULL,
  version     integer     NOT NULL,  -- 1, and one more for each correction by late spans
  reason      text        NOT NULL,  -- root_settled, idle, span_limit, too_many_open
  spans       integer     NOT NULL,
  chunk_ids   uuid[]      NOT NULL,
  requests    text[]      NOT NULL,  -- ids of the requests made of it
  outcome     text        NOT NULL,  -- requests, no_root, no_request, refused
  PRIMARY KEY (project_id, shard_key, trace_id, day)
) PARTITION BY RANGE (day);

-- Which worker assembles a project. epoch grows with every change of hands and fences the former holder.
CREATE TABLE assembly_lease (
  project_id  uuid        NOT NULL,
  shard_key   smallint    NOT NULL,
  holder      uuid        NOT NULL,
  epoch       bigint      NOT NULL,
  held_until  timestamptz NOT NULL,
  PRIMARY KEY (project_id, shard_key)
);
