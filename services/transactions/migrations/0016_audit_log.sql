-- Who did what (docs/audit.md). Each line is committed with the action that it tells of.
CREATE TABLE audit_log (
  id         uuid PRIMARY KEY,
  at         timestamptz NOT NULL,
  -- The id of an account or of an API key; never a name.
  actor      text NOT NULL,
  actor_kind text NOT NULL CHECK (actor_kind IN ('account', 'key', 'system')),
  action     text NOT NULL,
  -- <kind>/<id>
  target     text NOT NULL,
  request    text
);
-- The list, newest first (keyset on at, id), and its filters.
CREATE INDEX audit_log_by_time ON audit_log (at DESC, id DESC);
CREATE INDEX audit_log_by_actor ON audit_log (actor, at DESC, id DESC);
CREATE INDEX audit_log_by_target ON audit_log (target, at DESC, id DESC);
-- The first statistics are taken when there are enough rows (ADR 14).
ALTER TABLE audit_log SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
