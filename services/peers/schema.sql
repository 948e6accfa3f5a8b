-- Tables of the service peers, besides those of lib/db/schema. The first statistics of tables that grow are taken when
-- there are enough rows (ADR 14).

CREATE TABLE peers (
  id              uuid PRIMARY KEY,
  -- Base URL: the peer's name in every message.
  url             text NOT NULL UNIQUE,
  name            text NOT NULL,
  -- Its page "My choices", at the same origin; null: it has announced none.
  choices         text,
  state           text NOT NULL CHECK (state IN ('PAIRED', 'QUARANTINED', 'ENDED')),
  subject_prefix  text NOT NULL DEFAULT '',
  -- Key or id of the email that subjects who answer at the peer get from this instance.
  notification    text,
  -- What happens when the peer asks for an erasure: an administrator decides (ASK), or it starts at once (FOLLOW).
  erasure         text NOT NULL DEFAULT 'ASK' CHECK (erasure IN ('ASK', 'FOLLOW')),
  -- Whether it and this instance cosign the heads of each other's logs (docs/evidence.md, "Witnesses").
  witness         boolean NOT NULL DEFAULT false,
  -- The Ed25519 keys that sign its heads, by area, and those that it cosigns with; null if it has stated none.
  note_keys       jsonb,
  -- Keys that no pinned key vouched for: they wait for an administrator.
  announced       jsonb,
  -- When an administrator last said that the keys are those that the other one read out; null since the pairing.
  compared_at     timestamptz,
  -- The thumbprint of our signing key that the peer was last seen to know: with another one it is to be told that there are new keys.
  knows_kid       text,
  -- The state of our own catalogue that the peer was last given: with another one there is something to tell it.
  shown_state     text,
  version         integer NOT NULL,
  created_at      timestamptz NOT NULL,
  modified_at     timestamptz NOT NULL,
  -- When its self-description was last asked for.
  described_at    timestamptz NOT NULL,
  last_contact_at timestamptz
);
-- The list, newest first (keyset on created, id).
CREATE INDEX peers_list ON peers (created_at DESC, id DESC);

-- Pinned keys. A key is looked up by the peer that is said to have signed, and its thumbprint (docs/federation.md,
-- "Requests between peers"). A peer that lists another's public key cannot sign with it, and must not keep the other from
-- pairing or from changing its keys.
CREATE TABLE peer_keys (
  kid      text NOT NULL,
  peer     uuid NOT NULL REFERENCES peers ON DELETE CASCADE,
  use      text NOT NULL CHECK (use IN ('sig', 'enc')),
  -- As the peer lists them; the first sealing key is the one to seal to.
  position integer NOT NULL,
  jwk      jsonb NOT NULL,
  PRIMARY KEY (peer, kid)
);
CREATE INDEX peer_keys_of_peer ON peer_keys (peer, use, position);

-- The keys that are pinned for the peer at an address. A change of them that is being stored is waited for (`pinKeys`
-- takes the lock exclusively), so that no delivery is bound to keys that have just been replaced.
CREATE FUNCTION pinned_keys(of_url text)
RETURNS text[] LANGUAGE plpgsql VOLATILE AS
$$ BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtext('peer keys'), hashtext(of_url));
  -- Each statement of a volatile function sees what was committed before it, so this one sees that change.
  RETURN ARRAY(SELECT k.kid FROM peer_keys AS k JOIN peers AS p ON p.id = k.peer
                WHERE p.url = of_url AND k.use = 'sig');
END $$;

-- Ids of peers' tokens until they expire: each is accepted once.
CREATE TABLE seen_tokens (
  peer       uuid NOT NULL,
  jti        text NOT NULL,
  expires_at timestamptz NOT NULL,
  PRIMARY KEY (peer, jti)
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
CREATE INDEX seen_tokens_expiry ON seen_tokens (expires_at);

-- What is known of peers' catalogues (docs/federation.md, "Catalogue"): when each is to be read next, and what state our copy has.
-- Copies themselves are with the service forms. A row outlives its peer until the copy is forgotten.
CREATE TABLE catalogues (
  url         text PRIMARY KEY,
  -- null: nothing yet, or all of it is to be read again.
  state       text,
  -- Number of entries in our copy, counted when all of it is read.
  size        integer,
  due_at      timestamptz NOT NULL,
  -- Asked for while it was being read: read once more.
  asked_again boolean NOT NULL DEFAULT false,
  -- Whether that is to be a full read.
  full_again  boolean NOT NULL DEFAULT false,
  began_at    timestamptz,
  -- Which process reads it, and until when no other does.
  lease       uuid,
  lease_until timestamptz,
  read_at     timestamptz,
  failures    integer NOT NULL DEFAULT 0
);
CREATE INDEX catalogues_due ON catalogues (due_at);

-- What peers are to be sent, and asked for (docs/federation.md, "Answers"): ids only, the content is read from transactions when it is sent.
-- A row is deleted with its outcome.
CREATE TABLE deliveries (
  -- withdraw, erase: the owner of a part is told that the part was withdrawn, or that its person was erased.
  kind        text NOT NULL CHECK (kind IN ('submit', 'decide', 'ask', 'withdraw', 'erase')),
  -- Base URL.
  peer_url    text NOT NULL,
  sid         text NOT NULL,
  decision    text CHECK (decision IN ('commit', 'rollback')),
  -- Thumbprints of the peer's signing keys when this was queued, and of those that they have vouched for since: with an instance that has none
  -- of them there is nothing to talk about, whatever its address.
  pinned      text[] NOT NULL,
  not_before  timestamptz NOT NULL,
  -- When it is given up.
  deadline    timestamptz NOT NULL,
  attempts    integer NOT NULL DEFAULT 0,
  last_error  text,
  created_at  timestamptz NOT NULL,
  -- The place in the trace of the submission (W3C Trace Context), which the attempts continue; null without tracing.
  traceparent text,
  PRIMARY KEY (kind, peer_url, sid),
  CHECK ((kind = 'decide') = (decision IS NOT NULL))
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
-- What is due, peer by peer.
CREATE INDEX deliveries_due ON deliveries (peer_url, not_before);
CREATE INDEX deliveries_deadline ON deliveries (deadline);

-- Queues of deliveries (lib/deliveries), by peer: one process at a time sends to a peer.
CREATE TABLE queues (
  peer_url    text PRIMARY KEY,
  lease_owner uuid,
  lease_until timestamptz,
  -- Increases with every lease: results of an earlier one are not recorded.
  fence       bigint NOT NULL DEFAULT 0,
  -- Consecutive failures; more than none: one attempt at a time.
  failures    integer NOT NULL DEFAULT 0,
  -- Why the last attempt failed; of interest while `failures` is not 0.
  last_error  text,
  next_at     timestamptz NOT NULL DEFAULT now()
);

-- What peers have signed: the only proof of a delivery, and it holds no answer.
CREATE TABLE acknowledgements (
  kind        text NOT NULL,
  peer_url    text NOT NULL,
  sid         text NOT NULL,
  verdict     text NOT NULL,
  receipt     text NOT NULL,
  received_at timestamptz NOT NULL,
  PRIMARY KEY (kind, peer_url, sid)
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);

-- Heads of the trees of all audit logs, as their services published them (topic accord.heads).
CREATE TABLE audit_heads (
  area text PRIMARY KEY,
  size bigint NOT NULL CHECK (size >= 0),
  root bytea NOT NULL CHECK (octet_length(root) = 32)
);

-- Signed statements of all heads (GET /audit/checkpoints), newest first.
CREATE TABLE checkpoints (
  id   uuid PRIMARY KEY,
  at   timestamptz NOT NULL,
  -- The heads, to see whether they have changed: {area: {size, root}}.
  logs jsonb NOT NULL,
  jws  text NOT NULL
);
CREATE INDEX checkpoints_by_time ON checkpoints (at DESC, id DESC);

-- Signed notes of the heads in checkpoints (c2sp.org/tlog-checkpoint): a head that several checkpoints state is there once.
CREATE TABLE notes (
  area text NOT NULL,
  size bigint NOT NULL CHECK (size >= 0),
  root bytea NOT NULL CHECK (octet_length(root) = 32),
  note text NOT NULL,
  PRIMARY KEY (area, size)
);

-- What witnesses have signed under them.
CREATE TABLE cosignatures (
  area      text NOT NULL,
  size      bigint NOT NULL,
  -- The key as the witness publishes it.
  witness   text NOT NULL,
  -- The line of the note.
  signature text NOT NULL,
  PRIMARY KEY (area, size, witness),
  FOREIGN KEY (area, size) REFERENCES notes
);

-- What each witness knows of each log of this instance.
CREATE TABLE witness_states (
  -- Base URL of a peer, or the URL of WITNESS_URL.
  witness     text NOT NULL,
  area        text NOT NULL,
  -- The newest head that it has signed, or that it says it knows.
  size        bigint NOT NULL DEFAULT 0,
  attempted_at timestamptz NOT NULL DEFAULT '-infinity',
  cosigned_at timestamptz,
  error       text,
  -- The head that it refuses, until it signs again: {size, root}.
  disputed    jsonb,
  PRIMARY KEY (witness, area)
);

-- The newest head of each log that this instance has cosigned. A row outlives its peer, whose log must not begin again.
CREATE TABLE witnessed_heads (
  origin   text PRIMARY KEY,
  size     bigint NOT NULL CHECK (size >= 0),
  root     bytea NOT NULL CHECK (octet_length(root) = 32),
  -- A signed head that contradicts it, until the next one that does not: {size, root}.
  disputed jsonb
);
