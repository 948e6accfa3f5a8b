-- For services with an audit log (lib/audit).

-- Who did what (docs/audit.md). Each line is committed with the action that it reports. The log is provable
-- (docs/evidence.md): the sealer numbers committed lines without gaps and stores the hash of each, which is a leaf of a
-- tree by RFC 9162, section 2.1. The retention blanks the body of a line: all columns but id, at, seq and leaf.
CREATE TABLE audit_log (
  id         uuid PRIMARY KEY,
  at         timestamptz NOT NULL,
  -- The id of an account or of an API key; never a name.
  actor      text,
  actor_kind text CHECK (actor_kind IN ('account', 'key', 'system')),
  action     text,
  -- <kind>/<id>
  target     text,
  request    text,
  outcome    text,
  -- SHA-256 of the document that the action made.
  digest     bytea CHECK (octet_length(digest) = 32),
  -- Position of the leaf, from 0; null until the line is sealed.
  seq        bigint CHECK (seq >= 0),
  leaf       bytea CHECK (octet_length(leaf) = 32),
  CHECK ((seq IS NULL) = (leaf IS NULL))
-- The first statistics are taken when there are enough rows (ADR 14).
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
-- The list, newest first (keyset on at, id), and its filters. Lists leave out receipts unless they are asked for, because
-- there are as many as submissions.
CREATE INDEX audit_log_by_time ON audit_log (at DESC, id DESC);
CREATE INDEX audit_log_acts ON audit_log (at DESC, id DESC) WHERE action <> 'receipt.signed';
CREATE INDEX audit_log_by_actor ON audit_log (actor, at DESC, id DESC) WHERE action <> 'receipt.signed';
CREATE INDEX audit_log_by_target ON audit_log (target, at DESC, id DESC);
CREATE UNIQUE INDEX audit_log_by_seq ON audit_log (seq);
CREATE INDEX audit_log_unsealed ON audit_log (at, id) WHERE seq IS NULL;

-- The tree of the sealed lines, in one row; the row's lock lets one sealer work at a time.
CREATE TABLE audit_tree (
  one      boolean PRIMARY KEY DEFAULT true CHECK (one),
  -- Number of sealed lines.
  size     bigint NOT NULL DEFAULT 0 CHECK (size >= 0),
  -- The roots of the complete subtrees, from the left, 32 bytes each.
  frontier bytea NOT NULL DEFAULT '' CHECK (octet_length(frontier) % 32 = 0),
  -- Lines before this position are blank.
  blanked  bigint NOT NULL DEFAULT 0
);
INSERT INTO audit_tree DEFAULT VALUES;

-- Hashes of complete subtrees with 256 leaves and more: a consistency proof reads as many as the tree is high.
CREATE TABLE audit_nodes (
  level    smallint NOT NULL CHECK (level >= 8),
  -- Among the subtrees of this level, from 0.
  position bigint NOT NULL CHECK (position >= 0),
  hash     bytea NOT NULL CHECK (octet_length(hash) = 32),
  PRIMARY KEY (level, position)
);

-- Sealed lines stay. Only their bodies may be blanked, all at once.
CREATE FUNCTION keep_sealed_line() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' OR (NEW.id, NEW.at, NEW.seq, NEW.leaf) IS DISTINCT FROM (OLD.id, OLD.at, OLD.seq, OLD.leaf)
     OR num_nonnulls(NEW.actor, NEW.actor_kind, NEW.action, NEW.target, NEW.outcome, NEW.digest, NEW.request) > 0
  THEN RAISE EXCEPTION 'A sealed line of the audit log cannot be changed.' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER keep_sealed_line BEFORE UPDATE OR DELETE ON audit_log
  FOR EACH ROW WHEN (OLD.seq IS NOT NULL) EXECUTE FUNCTION keep_sealed_line();
