-- Why the last attempt to send to a peer failed; of interest while queues.failures is not 0.
ALTER TABLE queues ADD COLUMN last_error text;
-- Number of entries in our copy of a catalogue, counted when all of it is read; so each is read again once.
ALTER TABLE catalogues ADD COLUMN size integer;
UPDATE catalogues SET state = NULL;
