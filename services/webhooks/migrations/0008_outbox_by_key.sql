-- The relay publishes the events of a key in the order of their ids.
CREATE INDEX outbox_key ON outbox (topic, key, id);
