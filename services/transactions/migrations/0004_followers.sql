-- Parts of transactions at the peers that own them (decisions.md §6): what is to be sent, sealed, and what became of it.
CREATE TABLE followers (
  -- The submission.
  sid         text PRIMARY KEY CHECK (length(sid) = 22),
  transaction text NOT NULL REFERENCES transactions (id),
  -- In the order in which the form showed them.
  place       integer NOT NULL,
  -- The peer's base URL, and its name as the subject saw it.
  location    text NOT NULL,
  name        text NOT NULL,
  state       text NOT NULL CHECK (state IN ('WAITING', 'SENDING', 'HELD', 'ACCEPTED', 'REFUSED', 'DROPPED')),
  version     integer NOT NULL CHECK (version > 0),
  reason      text,
  -- The transaction at the peer.
  remote_id   text,
  -- The answers, readable for the peer alone: gone as soon as they need not be sent any more.
  sealed      text,
  mode        text NOT NULL CHECK (mode IN ('commit', 'hold')),
  language    text NOT NULL,
  -- What was asked, without any answer, as the receipt tells it.
  shown       jsonb NOT NULL,
  -- Until when it is tried.
  deadline    timestamptz NOT NULL,
  changed_at  timestamptz NOT NULL,
  UNIQUE (transaction, location),
  CHECK ((state IN ('WAITING', 'SENDING')) = (sealed IS NOT NULL))
);

-- Receipts of transactions that wait for peers: their body, but for the time of the commitment.
CREATE TABLE receipt_drafts (
  transaction text PRIMARY KEY REFERENCES transactions (id),
  body        text NOT NULL
);
