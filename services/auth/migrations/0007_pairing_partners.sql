-- A one-time key belongs to the partner that reserved it: its address and the thumbprint of its signing key. A key whose peer was removed
-- is spent: it is not accepted again, not even to repeat a reply that was lost.
ALTER TABLE api_keys
  ADD COLUMN partner_url        text,
  ADD COLUMN partner_thumbprint text,
  ADD COLUMN spent_at           timestamptz;
CREATE INDEX api_keys_of_partner ON api_keys (partner_url) WHERE partner_url IS NOT NULL AND spent_at IS NULL;
