-- Parts of peers that made no transaction (refused, or decided before they came) are counted by peer, and forgotten after 31 days.
CREATE INDEX submissions_without_transaction ON submissions (peer, (digest IS NULL)) WHERE transaction IS NULL;
CREATE INDEX submissions_to_forget ON submissions (changed_at) WHERE transaction IS NULL;
