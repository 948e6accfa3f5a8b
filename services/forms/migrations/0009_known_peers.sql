-- The ids of the peers of this instance, as the service peers last told them: `sharedWith` of an entry names some of them. No row: not told yet.
CREATE TABLE known_peers (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  ids    text[] NOT NULL,
  as_of  timestamptz NOT NULL
);
