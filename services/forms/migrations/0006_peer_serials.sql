-- Which content a peer has given a serial. It is never another one, also not after the entry was withdrawn: somebody may have it on their screen.
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
