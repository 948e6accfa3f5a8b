-- Copies of what peers share with this instance (docs/federation.md, "Catalogue"). Signatures are checked by the service peers, contents here.

-- A peer as its catalogue names it; it is there as long as the pairing is.
CREATE TABLE peers (
  -- Base URL.
  url         text PRIMARY KEY,
  -- host[:port] of the URL, by which layouts name its elements.
  host        text NOT NULL UNIQUE,
  name        text NOT NULL,
  -- What answers are sealed to: a public JWK.
  sealing_key jsonb NOT NULL,
  -- The catalogue's state that the copy has; null until it is whole for the first time.
  state       text,
  -- The state that is on its way, page by page.
  receiving   text,
  -- When the copy was known to be as the peer's own.
  as_of       timestamptz NOT NULL
);

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
