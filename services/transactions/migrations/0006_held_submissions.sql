-- Parts whose leader has not decided, oldest first: metrics tell of them.
CREATE INDEX submissions_held ON submissions (received_at) WHERE verdict = 'held';
