-- How the name of a peer looks, by which names that look the same are found (domain/owner-name.ts). NULL: not known yet, until the
-- peer's catalogue is read the next time; then addresses stand beside names.
ALTER TABLE peers ADD COLUMN appearance text;
CREATE INDEX peers_appearance ON peers (appearance);
