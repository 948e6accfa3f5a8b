-- Whether two peers have one name is asked for each form with questions of one of them.
CREATE INDEX peers_name ON peers (lower(name));
