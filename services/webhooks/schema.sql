-- Tables of the service webhooks, besides those of lib/db/schema. The first statistics of tables that grow are taken when
-- there are enough rows (ADR 14).

CREATE TABLE webhooks (
  id                 uuid PRIMARY KEY,
  name               text NOT NULL,
  target_url         text NOT NULL,
  -- As they were given: also the older name of one of them.
  subscribed_actions text[] NOT NULL CHECK (cardinality(subscribed_actions) > 0),
  -- The organisation that is told of withdrawals (docs/webhooks.md, "Withdrawals"), as people see its name; null: people are
  -- not told of this webhook.
  recipient          text,
  -- Keys of the elements whose withdrawal is sent; null: all.
  elements           text[],
  -- ISO 8601; null: no acknowledgement is expected.
  acknowledge_within text,
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
  -- Its queue of deliveries (lib/deliveries): one process at a time sends to a webhook.
  lease_owner        uuid,
  lease_until        timestamptz,
  -- Increases with every lease: results of an earlier one are not recorded.
  fence              bigint NOT NULL DEFAULT 0,
  -- Consecutive failures; more than none: one delivery at a time.
  failures           integer NOT NULL DEFAULT 0,
  next_at            timestamptz NOT NULL DEFAULT now(),
  CHECK ((former_secret IS NULL) = (former_until IS NULL))
);
-- The list: newest first (keyset on created, id).
CREATE INDEX webhooks_created ON webhooks (created_at DESC, id DESC);

-- What endpoints are to be told, and the outcome.
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
  -- Of the last attempt.
  status_code  integer,
  duration_ms  integer,
  error        text,
  created_at   timestamptz NOT NULL,
  delivered_at timestamptz,
  CHECK ((status = 'DELIVERED') = (delivered_at IS NOT NULL))
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
-- An event is one delivery of a webhook; what people have redelivered comes beside it.
CREATE UNIQUE INDEX deliveries_once ON deliveries (webhook, event_id) WHERE NOT redelivery;
-- What is due, webhook by webhook.
CREATE INDEX deliveries_due ON deliveries (webhook, not_before) WHERE status = 'PENDING';
-- The list: newest first (keyset on created, id).
CREATE INDEX deliveries_created ON deliveries (webhook, created_at DESC, id DESC);
-- The list filtered by status or by the event's resource. Few deliveries fail; those that are PENDING have an index.
CREATE INDEX deliveries_failed ON deliveries (webhook, created_at DESC, id DESC) WHERE status = 'FAILED';
CREATE INDEX deliveries_source ON deliveries (source_id, webhook);
-- Tests of a webhook: the delivery engine also sends those of a paused webhook, and looks for them here.
CREATE INDEX deliveries_tests ON deliveries (webhook, created_at DESC, id DESC) WHERE action = 'webhook.test';
-- What is old enough to be forgotten.
CREATE INDEX deliveries_age ON deliveries (created_at);

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
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
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
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
CREATE INDEX notice_messages_of_notice ON notice_messages (webhook, transaction);
CREATE INDEX notice_messages_queued ON notice_messages (webhook, transaction) WHERE state = 'QUEUED';
