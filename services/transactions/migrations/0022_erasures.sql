-- Holds of subjects (docs/erasure.md): nothing of the subject is erased while one is in force.
CREATE TABLE holds (
  subject       text PRIMARY KEY,
  reason        text NOT NULL,
  since         timestamptz NOT NULL,
  -- From when decisions about the subject are RESTRICTED; null: they are not.
  restricted_at timestamptz,
  -- Null: until somebody ends the hold.
  until         timestamptz
);

-- Erasures of subjects. The row is committed first; a job repeats the work until it is DONE.
CREATE TABLE erasures (
  id         text PRIMARY KEY CHECK (length(id) = 22),
  -- subjects.id, which audit lines have too.
  reference  uuid NOT NULL,
  -- The name of the subject; null as soon as the erasure has ended.
  subject    text,
  -- HMAC of the name; null after BACKUP_RETENTION.
  digest     bytea,
  state      text NOT NULL CHECK (state IN ('REQUESTED', 'RUNNING', 'HELD', 'DONE', 'REFUSED')),
  -- Why it was requested; null as soon as the erasure has ended, because it may name the person.
  reason     text,
  -- Why it was refused.
  ground     text,
  counts     jsonb NOT NULL DEFAULT '{}',
  -- [{name, location}]
  peers      jsonb NOT NULL DEFAULT '[]',
  created_at timestamptz NOT NULL,
  due_at     timestamptz NOT NULL,
  -- Transactions that were created later are a new subject's.
  started_at timestamptz,
  ended_at   timestamptz,
  CHECK ((state IN ('REQUESTED', 'RUNNING', 'HELD')) = (subject IS NOT NULL)),
  CHECK (state NOT IN ('RUNNING', 'HELD', 'DONE') OR started_at IS NOT NULL)
);
CREATE UNIQUE INDEX erasures_open ON erasures (subject) WHERE subject IS NOT NULL;
CREATE INDEX erasures_created ON erasures (created_at DESC, id DESC);

-- The receipts of erased transactions: a receipt that somebody holds can still be compared.
CREATE TABLE erased_receipts (
  transaction text PRIMARY KEY REFERENCES transactions (id),
  -- SHA-256 of the JWS.
  digest      bytea NOT NULL,
  kid         text NOT NULL,
  signed_at   timestamptz NOT NULL
);

ALTER TABLE transactions ADD COLUMN erased_at timestamptz;
-- Transactions without committed answers whose retention ends, oldest first.
CREATE INDEX transactions_to_abandon ON transactions (changed_at)
  WHERE state IN ('CANCELLED', 'TIMEOUT', 'ROLLBACK') AND erased_at IS NULL;

-- ERASED: `committed_at` stays, so that statistics tell former answers from those that never took effect.
-- NOT VALID: the rows of before keep the narrower rules, and need no scan.
ALTER TABLE records DROP CONSTRAINT records_state_check, DROP CONSTRAINT records_check;
ALTER TABLE records
  ADD CONSTRAINT records_state_check
    CHECK (state IN ('PENDING', 'COMMITTED', 'ROLLED_BACK', 'ERASED')) NOT VALID,
  ADD CONSTRAINT records_check
    CHECK ((state = 'COMMITTED') = (committed_at IS NOT NULL) OR state = 'ERASED') NOT VALID;

-- See 0013 and ADR 14.
ALTER TABLE holds SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
ALTER TABLE erasures SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
ALTER TABLE erased_receipts SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
