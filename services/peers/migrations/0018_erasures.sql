-- erase: the owner of a part is told that its person was erased. NOT VALID: the rows of before keep the narrower rule, and need no scan.
ALTER TABLE deliveries DROP CONSTRAINT deliveries_kind_check;
ALTER TABLE deliveries ADD CONSTRAINT deliveries_kind_check
  CHECK (kind IN ('submit', 'decide', 'ask', 'withdraw', 'erase')) NOT VALID;
-- What happens when the peer asks for an erasure: an administrator decides (ASK), or it starts at once (FOLLOW).
ALTER TABLE peers ADD COLUMN erasure text NOT NULL DEFAULT 'ASK' CHECK (erasure IN ('ASK', 'FOLLOW'));
