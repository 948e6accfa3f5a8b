-- Erasures that a peer asks for cover only what the peer has sent of the subject (docs/erasure.md, "Peers").
ALTER TABLE erasures
  -- The peer's base URL; null: all data of the subject.
  ADD COLUMN peer         text,
  -- The name of the subject of such an erasure, in place of `subject`, which the previous release would erase as a whole.
  ADD COLUMN sent_subject text;
ALTER TABLE erasures DROP CONSTRAINT erasures_check;
ALTER TABLE erasures
  ADD CONSTRAINT erasures_check
    CHECK ((state IN ('REQUESTED', 'RUNNING', 'HELD')) = (subject IS NOT NULL OR sent_subject IS NOT NULL)) NOT VALID,
  ADD CONSTRAINT erasures_of_peer_check CHECK (sent_subject IS NULL OR (peer IS NOT NULL AND subject IS NULL)) NOT VALID;
CREATE UNIQUE INDEX erasures_of_peer_open ON erasures (peer, sent_subject) WHERE sent_subject IS NOT NULL;
CREATE INDEX erasures_of_peer ON erasures (peer, reference) WHERE peer IS NOT NULL;

-- What the owner of a part knows of the erasure of its person.
CREATE TABLE part_erasures (
  sid        text PRIMARY KEY REFERENCES followers (sid),
  erasure    text NOT NULL REFERENCES erasures (id) ON DELETE CASCADE,
  -- The owner's base URL.
  location   text NOT NULL,
  state      text NOT NULL CHECK (state IN ('QUEUED', 'DELIVERED', 'ACKNOWLEDGED', 'OVERDUE', 'FAILED', 'UNSUPPORTED')),
  -- kept: the owner does not erase its part.
  outcome    text CHECK (outcome IN ('done', 'kept')),
  since      timestamptz NOT NULL,
  -- When the owner was last to be asked.
  ordered_at timestamptz NOT NULL,
  created_at timestamptz NOT NULL,
  CHECK ((state = 'ACKNOWLEDGED') = (outcome IS NOT NULL))
);
CREATE INDEX part_erasures_of_erasure ON part_erasures (erasure, location);
CREATE INDEX part_erasures_open ON part_erasures (state, ordered_at) WHERE state IN ('QUEUED', 'DELIVERED');
CREATE INDEX part_erasures_overdue ON part_erasures (sid) WHERE state = 'OVERDUE';

-- What the organisations behind webhooks know of an erasure; `recipient` is the webhook's id. As `notices`.
CREATE TABLE erasure_notices (
  erasure   text NOT NULL REFERENCES erasures (id) ON DELETE CASCADE,
  recipient text NOT NULL,
  name      text NOT NULL,
  state     text NOT NULL CHECK (state IN ('QUEUED', 'DELIVERED', 'ACKNOWLEDGED', 'OVERDUE', 'FAILED')),
  outcome   text,
  note      text,
  -- Of the notice: an event with an older version changes nothing.
  version   integer NOT NULL,
  since     timestamptz NOT NULL,
  PRIMARY KEY (erasure, recipient)
);

-- See 0013 and ADR 14.
ALTER TABLE part_erasures SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
ALTER TABLE erasure_notices SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
