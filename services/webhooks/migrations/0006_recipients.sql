-- Organisations that are told of withdrawals (docs/webhooks.md, "Withdrawals").
ALTER TABLE webhooks
  -- The organisation's name as people see it; null: people are not told of this webhook.
  ADD COLUMN recipient          text,
  -- Keys of the elements whose withdrawal is sent; null: all.
  ADD COLUMN elements           text[],
  -- ISO 8601; null: no acknowledgement is expected.
  ADD COLUMN acknowledge_within text;

-- What an organisation knows of a withdrawal. It outlives its webhook, so that people are told how it ended.
CREATE TABLE notices (
  webhook     uuid NOT NULL,
  transaction text NOT NULL,
  name        text NOT NULL,
  state       text NOT NULL CHECK (state IN ('QUEUED', 'DELIVERED', 'ACKNOWLEDGED', 'OVERDUE', 'FAILED')),
  outcome     text CHECK (outcome IN ('done', 'kept')),
  note        text,
  -- Increases with every change, so that events in any order lead to the latest state.
  version     integer NOT NULL,
  since       timestamptz NOT NULL,
  -- How long the organisation may take to acknowledge, and until when; null: none is expected.
  period      interval,
  due         timestamptz,
  created_at  timestamptz NOT NULL,
  PRIMARY KEY (webhook, transaction)
);
CREATE INDEX notices_due ON notices (due) WHERE state IN ('QUEUED', 'DELIVERED');
CREATE INDEX notices_overdue ON notices (webhook) WHERE state = 'OVERDUE';
CREATE INDEX notices_age ON notices (created_at);

-- The messages of a notice: several if the withdrawal has more than 50 consents. `message` is the `webhook-id`.
CREATE TABLE notice_messages (
  message     uuid PRIMARY KEY,
  webhook     uuid NOT NULL,
  transaction text NOT NULL,
  state       text NOT NULL CHECK (state IN ('QUEUED', 'DELIVERED', 'ACKNOWLEDGED', 'FAILED')),
  outcome     text CHECK (outcome IN ('done', 'kept')),
  note        text,
  FOREIGN KEY (webhook, transaction) REFERENCES notices ON DELETE CASCADE,
  CHECK ((state = 'ACKNOWLEDGED') = (outcome IS NOT NULL))
);
CREATE INDEX notice_messages_of_notice ON notice_messages (webhook, transaction);
CREATE INDEX notice_messages_queued ON notice_messages (webhook, transaction) WHERE state = 'QUEUED';

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
-- Events that Kafka has acknowledged, for a day: a topic that is lost is filled again from here.
CREATE TABLE outbox_sent (
  id       bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id uuid NOT NULL,
  topic    text NOT NULL,
  key      text NOT NULL,
  event    jsonb NOT NULL,
  sent_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX outbox_sent_age ON outbox_sent (sent_at);
CREATE INDEX outbox_sent_topic ON outbox_sent (topic, id);
-- The first statistics are taken when there are enough rows (ADR 14).
ALTER TABLE notices SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
ALTER TABLE notice_messages SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
ALTER TABLE outbox_sent SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
