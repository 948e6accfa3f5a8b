-- The time that every rule goes by; tests shift it with the setting accord.clock_offset.
CREATE FUNCTION accord_now() RETURNS timestamptz LANGUAGE sql STABLE AS
$$ SELECT now() + coalesce(nullif(current_setting('accord.clock_offset', true), '')::interval, '0'::interval) $$;

CREATE TABLE transactions (
  id             text PRIMARY KEY CHECK (length(id) = 22),
  subject        text NOT NULL,
  state          text NOT NULL CHECK (state IN ('CREATED', 'SUBMITTED', 'COMMITTED', 'CANCELLED', 'TIMEOUT', 'ROLLBACK')),
  version        integer NOT NULL CHECK (version > 0),
  context        jsonb NOT NULL,
  layout         jsonb NOT NULL,
  author         text NOT NULL,
  parent         text REFERENCES transactions (id),
  token_epoch    integer NOT NULL DEFAULT 0,
  answers_digest bytea,
  created_at     timestamptz NOT NULL,
  changed_at     timestamptz NOT NULL,
  expires_at     timestamptz NOT NULL
);
-- Lists: newest first, of all or of one subject (keyset on created, id).
CREATE INDEX transactions_created ON transactions (created_at DESC, id DESC);
CREATE INDEX transactions_subject ON transactions (subject, created_at DESC, id DESC);
-- The sweeper looks at open ones alone.
CREATE INDEX transactions_open ON transactions (expires_at) WHERE state IN ('CREATED', 'SUBMITTED');
-- One open child per parent.
CREATE UNIQUE INDEX transactions_open_child ON transactions (parent) WHERE state IN ('CREATED', 'SUBMITTED');

-- Which transaction answers an equal context: one open transaction per context.
CREATE TABLE context_claims (
  digest      bytea PRIMARY KEY,
  transaction text NOT NULL
);
CREATE INDEX context_claims_transaction ON context_claims (transaction);

CREATE TABLE transaction_history (
  transaction text NOT NULL REFERENCES transactions (id),
  version     integer NOT NULL,
  state       text NOT NULL,
  at          timestamptz NOT NULL,
  PRIMARY KEY (transaction, version)
);

CREATE TABLE records (
  id           uuid PRIMARY KEY,
  transaction  text NOT NULL REFERENCES transactions (id),
  subject      text NOT NULL,
  object       text NOT NULL DEFAULT '',
  key          text NOT NULL,
  type         text NOT NULL CHECK (type IN ('information', 'processing', 'preference', 'conditions')),
  serial       text NOT NULL,
  info_key     text NOT NULL,
  info_serial  text NOT NULL,
  value        text[] NOT NULL,
  positions    integer[],
  state        text NOT NULL CHECK (state IN ('PENDING', 'COMMITTED', 'ROLLED_BACK')),
  origin       text NOT NULL,
  author       text NOT NULL,
  comment      text,
  created_at   timestamptz NOT NULL,
  committed_at timestamptz,
  expires_at   timestamptz,
  CHECK ((state = 'COMMITTED') = (committed_at IS NOT NULL))
);
-- "Newest committed of (subject, object, key)", and a subject's records newest first.
CREATE INDEX records_newest ON records (subject, object, key, committed_at DESC, id DESC) WHERE state = 'COMMITTED';
CREATE INDEX records_subject ON records (subject, created_at DESC, id DESC);
CREATE INDEX records_transaction ON records (transaction);
CREATE INDEX records_key ON records (key, created_at DESC, id DESC);

CREATE TABLE receipts (
  transaction text PRIMARY KEY REFERENCES transactions (id),
  body        text NOT NULL,
  jws         text NOT NULL
);

CREATE TABLE subjects (
  id               uuid PRIMARY KEY,
  name             text NOT NULL UNIQUE,
  email_address    text,
  default_language text,
  created_at       timestamptz NOT NULL,
  modified_at      timestamptz NOT NULL
);
CREATE INDEX subjects_created ON subjects (created_at DESC, id DESC);

CREATE TABLE outbox (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id    uuid NOT NULL UNIQUE,
  topic       text NOT NULL,
  key         text NOT NULL,
  event       jsonb NOT NULL,
  not_before  timestamptz NOT NULL DEFAULT now(),
  attempts    integer NOT NULL DEFAULT 0,
  lease_until timestamptz
);
