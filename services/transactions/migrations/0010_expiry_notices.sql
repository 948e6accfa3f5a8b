-- When the next notice of the expiry of a transaction's answers is due: consent.expiring, then consent.expired; infinity if none is to come.
-- Null: not planned yet, because an earlier release or a confirmation put the answers in force.
ALTER TABLE transactions ADD COLUMN notice_at timestamptz;
CREATE INDEX transactions_notice ON transactions (notice_at) WHERE state = 'COMMITTED' AND (notice_at IS NULL OR notice_at < 'infinity');
