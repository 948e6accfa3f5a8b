-- For services that apply events once (lib/events/inbox.ts): applied events, recorded in the transaction of their effect.
CREATE TABLE inbox (
  consumer   text NOT NULL,
  event_id   uuid NOT NULL,
  applied_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (consumer, event_id)
-- The first statistics are taken when there are enough rows (ADR 14).
) WITH (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
CREATE INDEX inbox_age ON inbox (applied_at);
