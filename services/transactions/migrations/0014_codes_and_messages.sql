-- Whether submitted answers await the subject's code; false after the right code. It stays true in a transaction that ended without it.
ALTER TABLE transactions ADD COLUMN awaits_code boolean NOT NULL DEFAULT false;

-- The confirmation code of a transaction. Another code replaces it.
CREATE TABLE codes (
  transaction text PRIMARY KEY REFERENCES transactions (id),
  -- 1 for the first code.
  number      integer NOT NULL DEFAULT 1 CHECK (number BETWEEN 1 AND 3),
  -- Keyed digest of the code, bound to the transaction, the answers and the number.
  mac         bytea NOT NULL,
  -- The code itself, encrypted; only if the page shows it (FORM_CODE).
  sealed      bytea,
  -- Attempts with this code, counted before they are evaluated.
  tries       integer NOT NULL DEFAULT 0 CHECK (tries BETWEEN 0 AND 5),
  created_at  timestamptz NOT NULL,
  expires_at  timestamptz NOT NULL,
  -- When it confirmed the answers.
  used_at     timestamptz
);

-- Queues of messages to subjects (lib/deliveries): mail domains share 1,024, and the SMS gateway has one.
CREATE TABLE message_queues (
  name        text PRIMARY KEY,
  lease_owner uuid,
  lease_until timestamptz,
  fence       bigint NOT NULL DEFAULT 0,
  failures    integer NOT NULL DEFAULT 0,
  next_at     timestamptz NOT NULL DEFAULT '-infinity'
);

-- Messages to subjects.
CREATE TABLE messages (
  id          uuid PRIMARY KEY,
  transaction text NOT NULL REFERENCES transactions (id),
  kind        text NOT NULL CHECK (kind IN ('invitation', 'code', 'notification', 'bad-news')),
  channel     text NOT NULL CHECK (channel IN ('mail', 'sms')),
  queue       text NOT NULL,
  -- The masked address.
  destination text NOT NULL,
  -- Keyed digest of the address, for its daily limits.
  address     bytea NOT NULL,
  -- Country calling code of a telephone number, for its hourly limit.
  prefix      text,
  -- Number of the code that it carries.
  code        integer,
  -- Address, sender and code, encrypted; erased when the message has ended.
  sealed      bytea,
  state       text NOT NULL CHECK (state IN ('PENDING', 'SENT', 'FAILED', 'EXPIRED')),
  attempts    integer NOT NULL DEFAULT 0,
  not_before  timestamptz NOT NULL,
  error       text,
  created_at  timestamptz NOT NULL,
  sent_at     timestamptz,
  CHECK ((state = 'PENDING') = (sealed IS NOT NULL)),
  CHECK ((state = 'SENT') = (sent_at IS NOT NULL))
);
CREATE INDEX messages_due ON messages (queue, not_before) WHERE state = 'PENDING';
CREATE INDEX messages_transaction ON messages (transaction, created_at DESC, id DESC);
CREATE INDEX messages_address ON messages (address, created_at);
CREATE INDEX messages_prefix ON messages (prefix, created_at) WHERE prefix IS NOT NULL;
-- See 0013 and ADR 14.
ALTER TABLE codes SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
ALTER TABLE messages SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
