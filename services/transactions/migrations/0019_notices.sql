-- Who was told of a withdrawal: the organisation behind a webhook (RECIPIENT; its id), or a peer (its base URL).
CREATE TABLE notices (
  transaction text NOT NULL REFERENCES transactions (id) ON DELETE CASCADE,
  recipient   text NOT NULL,
  kind        text NOT NULL CHECK (kind IN ('RECIPIENT', 'PEER')),
  name        text NOT NULL,
  state       text NOT NULL CHECK (state IN ('QUEUED', 'DELIVERED', 'ACKNOWLEDGED', 'OVERDUE', 'FAILED', 'UNSUPPORTED')),
  outcome     text,
  note        text,
  -- Of the notice: an event with an older version changes nothing.
  version     integer NOT NULL,
  since       timestamptz NOT NULL,
  PRIMARY KEY (transaction, recipient)
);
-- The first statistics are taken when there are enough rows (ADR 14).
ALTER TABLE notices SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
