-- The time that every rule goes by; tests shift it with the setting accord.clock_offset.
CREATE FUNCTION accord_now() RETURNS timestamptz LANGUAGE sql STABLE AS
$$ SELECT now() + coalesce(nullif(current_setting('accord.clock_offset', true), '')::interval, '0'::interval) $$;

-- A key itself is never stored: `hash` is an HMAC whose secret is kept outside the database.
CREATE TABLE api_keys (
  id             uuid PRIMARY KEY,
  name           text NOT NULL,
  scope          text NOT NULL CHECK (scope IN ('OWNER', 'PEER')),
  hash           bytea NOT NULL,
  created_at     timestamptz NOT NULL,
  last_access_at timestamptz,
  revoked_at     timestamptz
);
-- The list: keys in force, newest first (keyset on created, id).
CREATE INDEX api_keys_in_force ON api_keys (created_at DESC, id DESC) WHERE revoked_at IS NULL;

-- People who sign in with the built-in issuer. Demo accounts are not among them.
CREATE TABLE accounts (
  id            uuid PRIMARY KEY,
  name          text NOT NULL UNIQUE,
  role          text NOT NULL CHECK (role IN ('admin', 'operator', 'user')),
  password_hash text NOT NULL,
  created_at    timestamptz NOT NULL,
  changed_at    timestamptz NOT NULL
);

-- Programs that sign in people, or themselves if they have a role.
CREATE TABLE clients (
  id            text PRIMARY KEY,
  role          text CHECK (role IN ('admin', 'operator', 'user')),
  secret_hash   bytea,
  redirect_uris text[] NOT NULL,
  created_at    timestamptz NOT NULL,
  -- Without a secret a client cannot prove that it is itself.
  CHECK (role IS NULL OR secret_hash IS NOT NULL)
);

-- The link with which the first account is made; its token is stored as a digest.
CREATE TABLE setup_links (
  digest     bytea PRIMARY KEY,
  expires_at timestamptz NOT NULL
);

-- Password tries of one name since `since`, counted before the password is looked at.
CREATE TABLE sign_in_tries (
  name_digest bytea PRIMARY KEY,
  tries       integer NOT NULL,
  since       timestamptz NOT NULL
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
