-- Events that no repetition can help, put aside by a reader or by the relay: ids alone, the event's facts are where they belong.
CREATE TABLE dead_letters (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  consumer   text NOT NULL,
  topic      text NOT NULL,
  -- partition:offset of the topic, or the id of the outbox row that was never sent.
  place      text NOT NULL,
  event_id   text,
  type       text,
  subject    text,
  reason     text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT accord_now(),
  UNIQUE (consumer, topic, place)
);
