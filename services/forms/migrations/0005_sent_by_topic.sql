-- What was sent to one topic: how much that is, and all of it when the topic was lost.
CREATE INDEX outbox_sent_topic ON outbox_sent (topic, id);
