-- What happened when: deployments and other events that charts show.
CREATE TABLE marker (
  project_id uuid        NOT NULL,
  shard_key  smallint    NOT NULL,
  id         uuid        NOT NULL,
  at         timestamptz NOT NULL,
  label      text        NOT NULL,
  version    text,
  kind       text        NOT NULL,
  created_by text        NOT NULL,
  PRIMARY KEY (project_id, shard_key, id)
);
CREATE INDEX marker_at ON marker (project_id, shard_key, at);
