-- Heads of the trees of all audit logs, as their services published them (topic accord.heads).
CREATE TABLE audit_heads (
  area text PRIMARY KEY,
  size bigint NOT NULL CHECK (size >= 0),
  root bytea NOT NULL CHECK (octet_length(root) = 32)
);
-- Signed statements of all heads (GET /audit/checkpoints), newest first.
CREATE TABLE checkpoints (
  id   uuid PRIMARY KEY,
  at   timestamptz NOT NULL,
  -- The heads, to see whether they have changed: {area: {size, root}}.
  logs jsonb NOT NULL,
  jws  text NOT NULL
);
CREATE INDEX checkpoints_by_time ON checkpoints (at DESC, id DESC);
