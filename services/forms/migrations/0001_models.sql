-- The time that every rule goes by; tests shift it with the setting accord.clock_offset.
CREATE FUNCTION accord_now() RETURNS timestamptz LANGUAGE sql STABLE AS
$$ SELECT now() + coalesce(nullif(current_setting('accord.clock_offset', true), '')::interval, '0'::interval) $$;

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
       (NEW.data, NEW.default_language, NEW.uses, NEW.kind, NEW.major, NEW.minor, NEW.activated_at)
         IS DISTINCT FROM (OLD.data, OLD.default_language, OLD.uses, OLD.kind, OLD.major, OLD.minor, OLD.activated_at) THEN
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
