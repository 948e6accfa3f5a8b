-- What is known of peers' catalogues (docs/federation.md, "Catalogue"): when each is to be read next, and what state our copy has.
-- Copies themselves are with the service forms. A row outlives its peer until the copy is forgotten.
CREATE TABLE catalogues (
  url         text PRIMARY KEY,
  -- null: nothing yet, or all of it is to be read again.
  state       text,
  due_at      timestamptz NOT NULL,
  -- Asked for while it was being read: read once more.
  asked_again boolean NOT NULL DEFAULT false,
  began_at    timestamptz,
  -- Who reads it, and until when nobody else does.
  lease       uuid,
  lease_until timestamptz,
  read_at     timestamptz,
  failures    integer NOT NULL DEFAULT 0
);
CREATE INDEX catalogues_due ON catalogues (due_at);

-- The state of our own catalogue that the peer was last given: with another one there is something to tell it.
ALTER TABLE peers ADD COLUMN shown_state text;

INSERT INTO catalogues (url, due_at) SELECT p.url, accord_now() FROM peers AS p;
