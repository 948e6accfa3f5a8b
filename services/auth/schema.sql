-- Tables of the service auth, besides those of lib/db/schema.

-- A key itself is never stored: `hash` is an HMAC whose secret is kept outside the database.
CREATE TABLE api_keys (
  id                 uuid PRIMARY KEY,
  name               text NOT NULL,
  -- DECISION: may only ask for decisions; with `elements`, only about these keys of elements.
  scope              text NOT NULL CHECK (scope IN ('OWNER', 'PEER', 'DECISION')),
  elements           text[] CHECK (elements IS NULL OR scope = 'DECISION'),
  hash               bytea NOT NULL,
  created_at         timestamptz NOT NULL,
  -- Username of the person who created it.
  created_by         text,
  -- Scopes OWNER and DECISION; null: never.
  expires_at         timestamptz,
  last_access_at     timestamptz,
  revoked_at         timestamptz,
  -- A key of scope PEER pairs with one partner, once: the pairing that has it, and until when if it is not finished.
  pairing            uuid,
  reserved_until     timestamptz,
  used_at            timestamptz,
  -- It belongs to the partner that reserved it: its address and the thumbprint of its signing key. A key whose peer was
  -- removed is spent: it is not accepted again, not even to repeat a reply that was lost.
  partner_url        text,
  partner_thumbprint text,
  spent_at           timestamptz
);
-- The list: keys in force, newest first (keyset on created, id).
CREATE INDEX api_keys_in_force ON api_keys (created_at DESC, id DESC) WHERE revoked_at IS NULL;
CREATE INDEX api_keys_of_partner ON api_keys (partner_url) WHERE partner_url IS NOT NULL AND spent_at IS NULL;

-- People who sign in with the built-in issuer. Demo accounts are not among them.
CREATE TABLE accounts (
  id              uuid PRIMARY KEY,
  name            text NOT NULL UNIQUE,
  -- Where its mails go; as an administrator entered it, or as its person confirmed it.
  email           text,
  -- docs/roles.md
  role            text NOT NULL
    CHECK (role IN ('admin', 'operator', 'clerk', 'author', 'auditor', 'technician', 'user')),
  password_hash   text NOT NULL,
  -- `password_hash` is of a random password, which is not stored, until the invited person chooses one.
  invited         boolean NOT NULL DEFAULT false,
  created_at      timestamptz NOT NULL,
  changed_at      timestamptz NOT NULL,
  disabled_at     timestamptz,
  last_sign_in_at timestamptz
);
-- The list, newest first (keyset on created, id).
CREATE INDEX accounts_by_creation ON accounts (created_at DESC, id DESC);
CREATE INDEX accounts_by_email ON accounts (lower(email)) WHERE email IS NOT NULL;

-- The second factor of an account: the secret of its app, sealed with a key that is derived from `key-pepper`.
CREATE TABLE second_factors (
  account    uuid PRIMARY KEY REFERENCES accounts ON DELETE CASCADE,
  sealed     bytea NOT NULL,
  -- The 30 seconds of the newest code that was used: earlier codes are not accepted any more.
  used_step  bigint NOT NULL,
  created_at timestamptz NOT NULL
);

-- Codes for a person who has lost the app; each is deleted when it is used. `digest` is a keyed hash.
CREATE TABLE recovery_codes (
  account uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
  digest  bytea NOT NULL,
  PRIMARY KEY (account, digest)
);

-- Programs that sign in people, or themselves if they have a role.
CREATE TABLE clients (
  id            text PRIMARY KEY,
  role          text CHECK (role IN ('admin', 'operator', 'clerk', 'author', 'auditor', 'technician', 'user')),
  secret_hash   bytea,
  redirect_uris text[] NOT NULL,
  created_at    timestamptz NOT NULL,
  -- Without a secret a client cannot prove that it is itself.
  CHECK (role IS NULL OR secret_hash IS NOT NULL)
);

-- Links with which a person chooses a password; the token is stored as a digest.
CREATE TABLE setup_links (
  digest     bytea PRIMARY KEY,
  expires_at timestamptz NOT NULL,
  -- Null: the link of the first account, which it creates.
  account    uuid REFERENCES accounts ON DELETE CASCADE,
  -- Whether its person asked for it, having forgotten the password.
  is_reset   boolean NOT NULL DEFAULT false
);
-- A new link of an administrator replaces the former; several of a person may be on their way.
CREATE UNIQUE INDEX setup_links_given ON setup_links (account) WHERE NOT is_reset;
CREATE INDEX setup_links_account ON setup_links (account);

-- The queue of the mails to people with an account (lib/deliveries).
CREATE TABLE mail_queues (
  name        text PRIMARY KEY,
  lease_owner uuid,
  lease_until timestamptz,
  -- Increases with every lease: results of an earlier one are not recorded.
  fence       bigint NOT NULL DEFAULT 0,
  failures    integer NOT NULL DEFAULT 0,
  next_at     timestamptz NOT NULL DEFAULT now()
);
INSERT INTO mail_queues (name) VALUES ('accounts');

-- Mails to people with an account that are to be sent; deleted when they are sent, or when their link has expired.
CREATE TABLE account_mails (
  id         uuid PRIMARY KEY,
  account    uuid NOT NULL REFERENCES accounts ON DELETE CASCADE,
  queue      text NOT NULL REFERENCES mail_queues,
  -- Address, link and language, encrypted.
  sealed     bytea NOT NULL,
  attempts   integer NOT NULL DEFAULT 0,
  not_before timestamptz NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX account_mails_due ON account_mails (queue, not_before);
CREATE INDEX account_mails_account ON account_mails (account);

-- What counts against the limits of such mails, for a day: a keyed digest of the mailbox, and when.
CREATE TABLE account_mail_counts (
  mailbox   bytea NOT NULL,
  queued_at timestamptz NOT NULL
);
CREATE INDEX account_mail_counts_mailbox ON account_mail_counts (mailbox, queued_at);
CREATE INDEX account_mail_counts_age ON account_mail_counts (queued_at);

-- Wrong passwords since `since`, counted before the password is checked: for a name (name_digest), and for a name from one
-- address (a keyed digest of both; of_name is the name's). After ten of a name its attempts are checked one after the
-- other: the next one not before paced_until.
CREATE TABLE sign_in_tries (
  name_digest bytea PRIMARY KEY,
  of_name     bytea,
  tries       integer NOT NULL,
  since       timestamptz NOT NULL,
  paced_until timestamptz
);

-- What oidc-provider keeps: sessions, interactions, grants, authorization codes, refresh tokens.
CREATE TABLE issuer_items (
  model       text NOT NULL,
  id          text NOT NULL,
  payload     jsonb NOT NULL,
  grant_id    text,
  uid         text,
  consumed_at timestamptz,
  expires_at  timestamptz NOT NULL,
  PRIMARY KEY (model, id)
);
CREATE INDEX issuer_items_grant ON issuer_items (grant_id) WHERE grant_id IS NOT NULL;
CREATE INDEX issuer_items_uid ON issuer_items (model, uid) WHERE uid IS NOT NULL;
CREATE INDEX issuer_items_expiry ON issuer_items (expires_at);
-- Everything of one account, which ends with its sessions: an interaction has the account that signed in.
CREATE INDEX issuer_items_account ON issuer_items
  ((coalesce(payload ->> 'accountId', payload #>> '{result,login,accountId}')));
