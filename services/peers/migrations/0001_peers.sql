-- The time that every rule goes by; tests shift it with the setting accord.clock_offset.
CREATE FUNCTION accord_now() RETURNS timestamptz LANGUAGE sql STABLE AS
$$ SELECT now() + coalesce(nullif(current_setting('accord.clock_offset', true), '')::interval, '0'::interval) $$;

CREATE TABLE peers (
  id              uuid PRIMARY KEY,
  -- Base URL: the peer's name in every message.
  url             text NOT NULL UNIQUE,
  name            text NOT NULL,
  state           text NOT NULL CHECK (state IN ('PAIRED', 'QUARANTINED', 'ENDED')),
  subject_prefix  text NOT NULL DEFAULT '',
  -- Keys that no pinned key vouched for: they wait for an administrator.
  announced       jsonb,
  version         integer NOT NULL,
  created_at      timestamptz NOT NULL,
  modified_at     timestamptz NOT NULL,
  -- When its self-description was last asked for.
  described_at    timestamptz NOT NULL,
  last_contact_at timestamptz
);
-- The list, newest first (keyset on created, id).
CREATE INDEX peers_list ON peers (created_at DESC, id DESC);

-- Pinned keys. A key is one peer's alone: who signs with it is that peer.
CREATE TABLE peer_keys (
  kid      text PRIMARY KEY,
  peer     uuid NOT NULL REFERENCES peers ON DELETE CASCADE,
  use      text NOT NULL CHECK (use IN ('sig', 'enc')),
  -- As the peer lists them; the first sealing key is the one to seal to.
  position integer NOT NULL,
  jwk      jsonb NOT NULL
);
CREATE INDEX peer_keys_of_peer ON peer_keys (peer, use, position);

-- Pairings that this instance began: the same call again is the same pairing, so that a lost reply does no harm.
CREATE TABLE pairings (
  id         uuid PRIMARY KEY,
  url        text NOT NULL,
  key_digest bytea NOT NULL,
  created_at timestamptz NOT NULL,
  UNIQUE (url, key_digest)
);

-- Ids of peers' tokens, until they could not be good again anyway: each is good once.
CREATE TABLE seen_tokens (
  peer       uuid NOT NULL,
  jti        text NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (peer, jti)
);
CREATE INDEX seen_tokens_expiry ON seen_tokens (expires_at);

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
