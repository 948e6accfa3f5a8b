-- A key of scope PEER pairs with one partner, once: the pairing that has it, and until when if it is not finished.
ALTER TABLE api_keys
  ADD COLUMN pairing        uuid,
  ADD COLUMN reserved_until timestamptz,
  ADD COLUMN used_at        timestamptz;
