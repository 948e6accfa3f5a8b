-- Finds the answers of a key that have not expired, where most have: answers mostly expire in the order of their insertion.
CREATE INDEX records_expires_at ON records USING brin (expires_at) WITH (pages_per_range = 32, autosummarize = on);
