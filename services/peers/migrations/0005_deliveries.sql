-- What peers are to be sent, and asked for (docs/federation.md, "Answers"): ids alone, what is sent is read from transactions when it is sent.
-- A row ends with what came of it, and is gone.
CREATE TABLE deliveries (
  kind        text NOT NULL CHECK (kind IN ('submit', 'decide', 'ask')),
  -- Base URL.
  peer_url    text NOT NULL,
  sid         text NOT NULL,
  decision    text CHECK (decision IN ('commit', 'rollback')),
  -- Thumbprints of the peer's signing keys when this was queued, and of those that they have vouched for since: with an instance that has none
  -- of them there is nothing to talk about, whatever its address.
  pinned      text[] NOT NULL,
  not_before  timestamptz NOT NULL,
  -- When it is given up; for a submission the latest possible, until transactions has said which it is.
  deadline    timestamptz NOT NULL,
  deadline_known boolean NOT NULL,
  attempts    integer NOT NULL DEFAULT 0,
  last_error  text,
  -- Who attempts it now, and until when nobody else does.
  lease       uuid,
  lease_until timestamptz,
  created_at  timestamptz NOT NULL,
  PRIMARY KEY (kind, peer_url, sid),
  CHECK ((kind = 'decide') = (decision IS NOT NULL))
);
-- What is due, peer by peer.
CREATE INDEX deliveries_due ON deliveries (peer_url, not_before);
CREATE INDEX deliveries_deadline ON deliveries (deadline);

-- How talking to each peer goes.
CREATE TABLE queues (
  peer_url text PRIMARY KEY,
  -- In vain since anything got through; more than none: one attempt at a time.
  failures integer NOT NULL DEFAULT 0,
  next_at  timestamptz NOT NULL DEFAULT now()
);

-- So many attempts may be made at once to one peer, by all replicas together: each takes a place.
CREATE TABLE places (
  peer_url    text NOT NULL REFERENCES queues ON DELETE CASCADE,
  place       smallint NOT NULL,
  lease       uuid,
  lease_until timestamptz,
  PRIMARY KEY (peer_url, place)
);

-- What peers have signed: the only proof of a delivery, and it holds no answer.
CREATE TABLE receipts (
  kind        text NOT NULL,
  peer_url    text NOT NULL,
  sid         text NOT NULL,
  verdict     text NOT NULL,
  receipt     text NOT NULL,
  received_at timestamptz NOT NULL,
  PRIMARY KEY (kind, peer_url, sid)
);
