-- Wrong passwords are counted for a name (name_digest), and for a name from one address (a keyed digest of both; of_name is the name's).
-- After ten of a name its tries are looked at one after the other: the next one not before paced_until.
ALTER TABLE sign_in_tries ADD COLUMN paced_until timestamptz, ADD COLUMN of_name bytea;
