-- When the events of a part, or of the order to withdraw it, were last published again because its owner had not
-- answered; null: they were not.
ALTER TABLE followers ADD COLUMN resent_at timestamptz;
CREATE INDEX followers_unanswered ON followers (coalesce(resent_at, changed_at)) WHERE state IN ('SENDING', 'HELD');
CREATE INDEX followers_resent ON followers (deadline) WHERE state = 'SENDING' AND resent_at IS NOT NULL;
CREATE INDEX followers_overdue ON followers (greatest(resent_at, withdrawal_since)) WHERE withdrawal_state = 'OVERDUE';
