-- Where the form was shown, if that was at a peer: {location, id} (docs/federation.md, "Answers").
ALTER TABLE transactions ADD COLUMN leader jsonb;

-- Parts of answers that came from peers. What was said of one is said again, whenever and however often it comes.
CREATE TABLE submissions (
  -- Base URL.
  peer        text NOT NULL,
  sid         text NOT NULL CHECK (length(sid) = 22),
  -- SHA-256 of what came; null if the decision came first, so that no content is taken any more.
  digest      bytea,
  verdict     text NOT NULL CHECK (verdict IN ('committed', 'held', 'rolledback', 'refused')),
  reason      text,
  -- Refused parts have none.
  transaction text REFERENCES transactions (id) DEFERRABLE INITIALLY DEFERRED,
  received_at timestamptz NOT NULL,
  changed_at  timestamptz NOT NULL,
  PRIMARY KEY (peer, sid),
  CHECK ((verdict = 'refused') = (reason IS NOT NULL)),
  CHECK (verdict NOT IN ('committed', 'held') OR transaction IS NOT NULL)
);
CREATE UNIQUE INDEX submissions_transaction ON submissions (transaction) WHERE transaction IS NOT NULL;
