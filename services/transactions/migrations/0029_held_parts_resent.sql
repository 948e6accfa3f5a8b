-- When the event of a held part was last published again because no decision had arrived; null: it was not.
ALTER TABLE submissions ADD COLUMN resent_at timestamptz;
CREATE INDEX submissions_undecided ON submissions (coalesce(resent_at, received_at)) WHERE verdict = 'held';
