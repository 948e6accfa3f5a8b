-- Tests of a webhook: the delivery engine also sends those of a paused webhook, and looks for them here.
CREATE INDEX deliveries_tests ON deliveries (webhook, created_at DESC, id DESC) WHERE action = 'webhook.test';
-- The list filtered by status or by the event's resource. Few deliveries fail; those that are PENDING have an index.
CREATE INDEX deliveries_failed ON deliveries (webhook, created_at DESC, id DESC) WHERE status = 'FAILED';
CREATE INDEX deliveries_source ON deliveries (source_id, webhook);
