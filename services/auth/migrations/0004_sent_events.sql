-- Events that Kafka has acknowledged, for a day: a topic that is lost before everybody has read it is filled again from here.
CREATE TABLE outbox_sent (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id uuid NOT NULL,
  topic    text NOT NULL,
  key      text NOT NULL,
  event    jsonb NOT NULL,
  sent_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX outbox_sent_age ON outbox_sent (sent_at);
