-- Tables of the service forms, besides those of lib/db/schema.

-- Entries. The active_* columns repeat what model_versions says, so that a form is looked up in one read of one table.
CREATE TABLE models (
  id             uuid PRIMARY KEY,
  key            text NOT NULL UNIQUE CHECK (key ~ '^[0-9A-Za-z_.-]{2,255}$'),
  type           text NOT NULL CHECK (type IN ('information', 'processing', 'preference', 'conditions', 'layout', 'theme', 'email')),
  name           text NOT NULL,
  description    text,
  shared         boolean NOT NULL DEFAULT false,
  shared_with    text[] NOT NULL DEFAULT '{}',
  status         text NOT NULL DEFAULT 'INACTIVE' CHECK (status IN ('INACTIVE', 'ACTIVE', 'DELETED')),
  is_default     boolean NOT NULL DEFAULT false CHECK (NOT is_default OR (type = 'information' AND status <> 'DELETED')),
  -- Records may exist: set at the first valid answer, never unset.
  answered       boolean NOT NULL DEFAULT false,
  -- The highest serial ever given; the next one is counted from here under the row's lock, so none is given twice.
  last_major     integer NOT NULL DEFAULT 0,
  last_minor     integer NOT NULL DEFAULT 0,
  active_version uuid,
  active_major   integer,
  active_minor   integer,
  -- Raised by every change: the ETag, and the version in events.
  revision       integer NOT NULL DEFAULT 1,
  created_at     timestamptz NOT NULL,
  modified_at    timestamptz NOT NULL,
  CHECK ((status = 'ACTIVE') = (active_version IS NOT NULL)),
  CHECK ((active_version IS NULL) = (active_major IS NULL) AND (active_version IS NULL) = (active_minor IS NULL))
);
CREATE UNIQUE INDEX models_one_default ON models (is_default) WHERE is_default;

-- Keys of entries that were removed after an activation: a new entry of that key goes on counting, so that an identifier
-- element/<type>/<key>/<serial> never means two things.
CREATE TABLE retired_keys (
  key        text PRIMARY KEY,
  last_major integer NOT NULL
);

CREATE TABLE model_versions (
  id               uuid PRIMARY KEY,
  model            uuid NOT NULL REFERENCES models (id) ON DELETE CASCADE,
  status           text NOT NULL CHECK (status IN ('DRAFT', 'ACTIVE', 'ARCHIVED')),
  kind             text NOT NULL CHECK (kind IN ('MAJOR', 'MINOR')),
  -- Why it is of this kind, as its author has said.
  reason           text,
  major            integer CHECK (major > 0),
  minor            integer CHECK (minor >= 0),
  default_language text NOT NULL,
  data             jsonb NOT NULL,
  -- What a layout names: keys of elements and information, keys or ids of theme and notification. Empty for other types.
  uses             text[] NOT NULL DEFAULT '{}',
  revision         integer NOT NULL DEFAULT 1,
  created_at       timestamptz NOT NULL,
  modified_at      timestamptz NOT NULL,
  activated_at     timestamptz,
  archived_at      timestamptz,
  CHECK ((status = 'DRAFT') = (major IS NULL) AND (status = 'DRAFT') = (minor IS NULL)),
  CHECK ((status = 'DRAFT') = (activated_at IS NULL) AND (status = 'ARCHIVED') = (archived_at IS NOT NULL)),
  UNIQUE (model, major, minor)
);
CREATE UNIQUE INDEX model_versions_one_active ON model_versions (model) WHERE status = 'ACTIVE';
CREATE UNIQUE INDEX model_versions_one_draft ON model_versions (model) WHERE status = 'DRAFT';
CREATE INDEX model_versions_uses ON model_versions USING gin (uses) WHERE status = 'ACTIVE';

-- Activated content never changes again, whoever asks: records and receipts point at it.
CREATE FUNCTION keep_activated_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' THEN
    -- Removed with its entry (the cascade comes after the entry's row is gone), or a draft.
    IF OLD.status <> 'DRAFT' AND EXISTS (SELECT 1 FROM models AS m WHERE m.id = OLD.model) THEN
      RAISE EXCEPTION 'an activated version is never deleted' USING ERRCODE = 'integrity_constraint_violation';
    END IF;
    RETURN OLD;
  END IF;
  IF NEW.model <> OLD.model OR (OLD.status, NEW.status) NOT IN
       (('DRAFT', 'DRAFT'), ('DRAFT', 'ACTIVE'), ('ACTIVE', 'ACTIVE'), ('ACTIVE', 'ARCHIVED'), ('ARCHIVED', 'ARCHIVED')) THEN
    RAISE EXCEPTION 'a version goes from DRAFT to ACTIVE to ARCHIVED' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  IF OLD.status <> 'DRAFT' AND
       (NEW.data, NEW.default_language, NEW.uses, NEW.kind, NEW.reason, NEW.major, NEW.minor, NEW.activated_at)
         IS DISTINCT FROM (OLD.data, OLD.default_language, OLD.uses, OLD.kind, OLD.reason, OLD.major, OLD.minor, OLD.activated_at) THEN
    RAISE EXCEPTION 'an activated version never changes' USING ERRCODE = 'integrity_constraint_violation';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER model_versions_keep BEFORE UPDATE OR DELETE ON model_versions
  FOR EACH ROW EXECUTE FUNCTION keep_activated_version();

CREATE TABLE logos (
  id         uuid PRIMARY KEY,
  media_type text NOT NULL CHECK (media_type IN ('image/png', 'image/jpeg', 'image/webp')),
  body       bytea NOT NULL CHECK (octet_length(body) <= 131072),
  created_at timestamptz NOT NULL
);

-- Copies of what peers share with this instance (docs/federation.md, "Catalogue"). Signatures are checked by the service peers, contents here.

-- A peer as its catalogue names it; it is there as long as the pairing is.
CREATE TABLE peers (
  -- Base URL.
  url         text PRIMARY KEY,
  -- host[:port] of the URL, by which layouts name its elements.
  host        text NOT NULL UNIQUE,
  name        text NOT NULL,
  -- How the name looks, by which names that look the same are found (domain/owner-name.ts).
  appearance  text NOT NULL,
  -- What answers are sealed to: a public JWK.
  sealing_key jsonb NOT NULL,
  -- The catalogue's state that the copy has; null until it is whole for the first time.
  state       text,
  -- The state that is on its way, page by page.
  receiving   text,
  -- When the copy was known to be as the peer's own.
  as_of       timestamptz NOT NULL
);
-- Whether two peers have one name is asked for each form with questions of one of them.
CREATE INDEX peers_name ON peers (lower(name));
CREATE INDEX peers_appearance ON peers (appearance);

CREATE TABLE peer_entries (
  id             uuid PRIMARY KEY,
  peer           text NOT NULL REFERENCES peers ON DELETE CASCADE,
  key            text NOT NULL,
  type           text NOT NULL CHECK (type IN ('information', 'processing', 'preference', 'conditions')),
  name           text NOT NULL,
  active_version uuid NOT NULL,
  active_major   integer NOT NULL,
  active_minor   integer NOT NULL,
  -- The last state of the catalogue that had it: what is not in the present one is withdrawn.
  seen_state     text NOT NULL,
  UNIQUE (peer, key)
);

-- Contents never change: another content under the same serial is another row, so that nothing that was remembered by id is ever wrong.
-- Former MINORs of the MAJOR stay for subjects who have them on their screens.
CREATE TABLE peer_versions (
  id               uuid PRIMARY KEY,
  entry            uuid NOT NULL REFERENCES peer_entries ON DELETE CASCADE,
  major            integer NOT NULL CHECK (major > 0),
  minor            integer NOT NULL CHECK (minor >= 0),
  default_language text NOT NULL,
  data             jsonb NOT NULL,
  -- SHA-256 of the content as it came: what is known is not checked again.
  digest           bytea NOT NULL,
  archived_at      timestamptz,
  UNIQUE (entry, major, minor)
);

-- Which content a peer has given a serial. It is never another one, also not after the entry was withdrawn: a person may have it on the screen.
CREATE TABLE peer_serials (
  peer     text NOT NULL REFERENCES peers ON DELETE CASCADE,
  key      text NOT NULL,
  major    integer NOT NULL,
  minor    integer NOT NULL,
  -- As in peer_versions.
  digest   bytea NOT NULL,
  known_at timestamptz NOT NULL,
  PRIMARY KEY (peer, key, major, minor)
);
CREATE INDEX peer_serials_known ON peer_serials (peer, known_at);

-- The peers of this instance, as the service peers last reported them: `sharedWith` of an entry names some of them. No row: not reported yet.
CREATE TABLE known_peers (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  ids    text[] NOT NULL,
  -- Base URLs of the peers in `ids`, in the same order; the copies of catalogues are stored by URL.
  urls   text[] NOT NULL,
  -- Their pages "My choices", in the same order; empty: none.
  choices text[] NOT NULL,
  as_of  timestamptz NOT NULL
);

-- The channels for messages to subjects that are configured, as the service transactions last reported them. No row: not reported yet.
CREATE TABLE message_channels (
  single    boolean PRIMARY KEY DEFAULT true CHECK (single),
  names     text[] NOT NULL
);
