-- One process at a time sends to a peer (lib/deliveries), instead of four that each lease a place and deliveries.
-- The table `places` and the leases of deliveries are no longer used; the previous release needs them during an upgrade.
ALTER TABLE queues
  ADD COLUMN lease_owner uuid,
  ADD COLUMN lease_until timestamptz,
  -- Increases with every lease: results of an earlier one are not recorded.
  ADD COLUMN fence       bigint NOT NULL DEFAULT 0;
