-- Events whose effect has been applied, noted in the effect's own transaction.
CREATE TABLE inbox (
  consumer   text NOT NULL,
  event_id   uuid NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (consumer, event_id)
);
CREATE INDEX inbox_age ON inbox (applied_at);

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
