-- The withdrawal of which the owner of this part is told; null: none. What has become of it, and since when.
ALTER TABLE followers ADD COLUMN withdrawal text;
ALTER TABLE followers ADD COLUMN withdrawal_state text
  CHECK (withdrawal_state IN ('QUEUED', 'ACKNOWLEDGED', 'OVERDUE', 'FAILED', 'UNSUPPORTED'));
ALTER TABLE followers ADD COLUMN withdrawal_since timestamptz;
CREATE INDEX followers_withdrawal ON followers (withdrawal, location) WHERE withdrawal IS NOT NULL;
-- What is not confirmed yet.
CREATE INDEX followers_withdrawal_open ON followers (withdrawal_state, withdrawal_since)
  WHERE withdrawal_state IN ('QUEUED', 'OVERDUE');
