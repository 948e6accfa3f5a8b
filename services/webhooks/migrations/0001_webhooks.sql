-- The time that every rule goes by; tests shift it with the setting accord.clock_offset. Leases go by the real one.
CREATE FUNCTION accord_now() RETURNS timestamptz LANGUAGE sql STABLE AS
$$ SELECT now() + coalesce(nullif(current_setting('accord.clock_offset', true), '')::interval, '0'::interval) $$;

CREATE TABLE webhooks (
  id                 uuid PRIMARY KEY,
  name               text NOT NULL,
  target_url         text NOT NULL,
  -- As they were given: also the older name of one of them.
  subscribed_actions text[] NOT NULL CHECK (cardinality(subscribed_actions) > 0),
  -- Sealed by a key that is kept outside the database: signing needs the secret itself.
  secret             bytea NOT NULL,
  -- The secret before the last change, and how long it signs, too.
  former_secret      bytea,
  former_until       timestamptz,
  state              text NOT NULL CHECK (state IN ('ACTIVE', 'PAUSED')),
  state_since        timestamptz NOT NULL,
  -- Since when nothing has got through; null: the last attempt did.
  failing_since      timestamptz,
  last_error         text,
  last_error_code    integer,
  last_error_at      timestamptz,
  created_at         timestamptz NOT NULL,
  modified_at        timestamptz NOT NULL,
  CHECK ((former_secret IS NULL) = (former_until IS NULL))
);
-- The list: newest first (keyset on created, id).
CREATE INDEX webhooks_created ON webhooks (created_at DESC, id DESC);

-- What endpoints are to be told, and what became of it.
CREATE TABLE deliveries (
  id           uuid PRIMARY KEY,
  webhook      uuid NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  -- `webhook-id`: the same at each attempt and in each redelivery, so that the receiver knows it again.
  message_id   uuid NOT NULL,
  event_id     uuid NOT NULL,
  action       text NOT NULL,
  source_id    text NOT NULL,
  event        jsonb NOT NULL,
  redelivery   boolean NOT NULL,
  status       text NOT NULL CHECK (status IN ('PENDING', 'DELIVERED', 'FAILED')),
  attempts     integer NOT NULL DEFAULT 0,
  not_before   timestamptz NOT NULL,
  -- Who attempts it now, and until when nobody else does.
  lease        uuid,
  lease_until  timestamptz,
  -- Of the last attempt.
  status_code  integer,
  duration_ms  integer,
  error        text,
  created_at   timestamptz NOT NULL,
  delivered_at timestamptz,
  CHECK ((status = 'DELIVERED') = (delivered_at IS NOT NULL))
);
-- An event is one delivery of a webhook; what people have redelivered comes beside it.
CREATE UNIQUE INDEX deliveries_once ON deliveries (webhook, event_id) WHERE NOT redelivery;
-- What is due, webhook by webhook.
CREATE INDEX deliveries_due ON deliveries (webhook, not_before) WHERE status = 'PENDING';
-- The list: newest first (keyset on created, id).
CREATE INDEX deliveries_created ON deliveries (webhook, created_at DESC, id DESC);
-- What is old enough to be forgotten.
CREATE INDEX deliveries_age ON deliveries (created_at);

-- Events whose effect has been applied, noted in the effect's own transaction.
CREATE TABLE inbox (
  consumer   text NOT NULL,
  event_id   uuid NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (consumer, event_id)
);
CREATE INDEX inbox_age ON inbox (applied_at);

-- Events that no repetition can help, put aside by the reader: ids alone, the event's facts are where they belong.
CREATE TABLE dead_letters (
  id         bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  consumer   text NOT NULL,
  topic      text NOT NULL,
  -- partition:offset of the topic.
  place      text NOT NULL,
  event_id   text,
  type       text,
  subject    text,
  reason     text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT accord_now(),
  UNIQUE (consumer, topic, place)
);
