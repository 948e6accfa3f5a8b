-- Tables of the console.

-- Sign-ins of people. The cookie has the id; a row has its SHA-256 and, in `sealed`, tokens that only the id and the
-- secret `console-session` together open.
CREATE TABLE sessions (
  id             bytea PRIMARY KEY,
  -- Issuer and subject: who may get back what was typed.
  person         text NOT NULL,
  sealed         bytea NOT NULL,
  -- Browser and system, for the person's own list of sessions; empty if they are not known.
  device         text NOT NULL DEFAULT '',
  signed_in_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  used_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- When the access token is to be renewed.
  renew_at       timestamptz NOT NULL,
  -- The row is kept for a while after the end, because a form that is sent then is kept for its person.
  ended_at       timestamptz
);
CREATE INDEX sessions_used ON sessions (used_at);

-- Forms that were sent after the end of a session, for the same person.
CREATE TABLE kept_posts (
  id         bytea PRIMARY KEY,
  person     text NOT NULL,
  sealed     bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX kept_posts_created ON kept_posts (created_at);

-- Forms that create something and were sent: the same form makes nothing twice.
CREATE TABLE sent_forms (
  once       text PRIMARY KEY,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX sent_forms_created ON sent_forms (created_at);
