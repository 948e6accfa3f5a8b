-- One process at a time sends to a webhook (lib/deliveries): whose turn it is and until when, and how its last attempts went.
ALTER TABLE webhooks
  ADD COLUMN lease_owner     uuid,
  ADD COLUMN lease_until     timestamptz,
  -- Increases with every lease: results of an earlier one are not recorded.
  ADD COLUMN fence           bigint NOT NULL DEFAULT 0,
  -- Consecutive failures; more than none: one delivery at a time.
  ADD COLUMN failures        integer NOT NULL DEFAULT 0,
  ADD COLUMN next_at timestamptz NOT NULL DEFAULT now();
UPDATE webhooks SET failures = 1 WHERE failing_since IS NOT NULL;
