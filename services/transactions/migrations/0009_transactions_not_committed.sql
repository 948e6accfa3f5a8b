-- Lists of what was not committed, newest first: where almost all were, the few others would be looked for among all.
CREATE INDEX transactions_not_committed ON transactions (created_at DESC, id DESC) WHERE state <> 'COMMITTED';
