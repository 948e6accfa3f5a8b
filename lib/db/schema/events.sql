-- For services that publish events (lib/events).

-- The time that every rule goes by; tests shift it with the setting accord.clock_offset. Leases go by the real one.
CREATE FUNCTION accord_now() RETURNS timestamptz LANGUAGE sql STABLE AS
$$ SELECT now() + coalesce(nullif(current_setting('accord.clock_offset', true), '')::interval, '0'::interval) $$;

-- Events that are not published yet, written in the transaction of the change that they report.
CREATE TABLE outbox (
  id          bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id    uuid NOT NULL UNIQUE,
  topic       text NOT NULL,
  key         text NOT NULL,
  event       jsonb NOT NULL,
  not_before  timestamptz NOT NULL DEFAULT now(),
  attempts    integer NOT NULL DEFAULT 0,
  lease_until timestamptz
);
-- The relay publishes the events of a key in the order of their ids.
CREATE INDEX outbox_key ON outbox (topic, key, id);

-- Events that Kafka has acknowledged, for a day: a topic that is lost before all consumers have read it is filled again from here.
CREATE TABLE outbox_sent (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id uuid NOT NULL,
  topic    text NOT NULL,
  key      text NOT NULL,
  event    jsonb NOT NULL,
  sent_at  timestamptz NOT NULL DEFAULT now()
-- The first statistics are taken when there are enough rows (ADR 14).
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
CREATE INDEX outbox_sent_age ON outbox_sent (sent_at);
-- The events of one topic: their number, and all of them when the topic was lost.
CREATE INDEX outbox_sent_topic ON outbox_sent (topic, id);

-- Events that no repetition can help, put aside by a consumer or by the relay: ids only, the event's facts are where they belong.
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
