-- Transactions whose notices are to be planned, oldest first; almost always none.
CREATE INDEX transactions_unplanned ON transactions (created_at) WHERE state = 'COMMITTED' AND notice_at IS NULL;
