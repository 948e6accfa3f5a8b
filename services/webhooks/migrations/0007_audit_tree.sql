-- The log becomes provable (docs/evidence.md): the sealer numbers committed lines without gaps and stores the hash
-- of each, which is a leaf of a tree by RFC 9162, section 2.1. The retention blanks the body of a line.
ALTER TABLE audit_log
  ADD COLUMN outcome text,
  -- SHA-256 of the document that the action made.
  ADD COLUMN digest  bytea CHECK (octet_length(digest) = 32),
  -- Position of the leaf, from 0; null until the line is sealed.
  ADD COLUMN seq     bigint CHECK (seq >= 0),
  ADD COLUMN leaf    bytea CHECK (octet_length(leaf) = 32),
  ADD CHECK ((seq IS NULL) = (leaf IS NULL)),
  ALTER COLUMN actor DROP NOT NULL,
  ALTER COLUMN actor_kind DROP NOT NULL,
  ALTER COLUMN action DROP NOT NULL,
  ALTER COLUMN target DROP NOT NULL;
CREATE UNIQUE INDEX audit_log_by_seq ON audit_log (seq);
CREATE INDEX audit_log_unsealed ON audit_log (at, id) WHERE seq IS NULL;
-- Lists leave out receipts unless they are asked for, because there are as many as submissions.
CREATE INDEX audit_log_acts ON audit_log (at DESC, id DESC) WHERE action <> 'receipt.signed';
DROP INDEX audit_log_by_actor;
CREATE INDEX audit_log_by_actor ON audit_log (actor, at DESC, id DESC) WHERE action <> 'receipt.signed';

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
