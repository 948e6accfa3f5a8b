-- Which answer is in force (docs/withdrawal.md, "The rule"). Every statement of a person takes the next position; positions, not
-- times, order them. The row of the subject is the lock of the person.
CREATE SEQUENCE positions;
ALTER TABLE subjects ADD COLUMN position bigint NOT NULL DEFAULT 0;

ALTER TABLE records
  -- The base URL of the peer whose form was answered, or that ordered this withdrawal; null: this instance's own form.
  ADD COLUMN source         text,
  -- Taken when the answer was submitted.
  ADD COLUMN position       bigint NOT NULL DEFAULT 0,
  -- From where and until where it is in force; `from` is null for an answer that was never in force.
  ADD COLUMN from_position  bigint,
  ADD COLUMN until_position bigint,
  ADD COLUMN from_at        timestamptz,
  ADD COLUMN until_at       timestamptz,
  -- The record that replaced it.
  ADD COLUMN ended_by       uuid,
  ADD CONSTRAINT records_from_check  CHECK ((from_position IS NULL) = (from_at IS NULL)),
  ADD CONSTRAINT records_until_check CHECK ((until_position IS NULL) = (until_at IS NULL) AND until_position > from_position IS NOT FALSE);

-- At most one answer to a question is in force.
CREATE UNIQUE INDEX records_in_force ON records (subject, object, key)
  WHERE state = 'COMMITTED' AND from_position IS NOT NULL AND until_position IS NULL;
CREATE INDEX records_ended ON records (subject, object, key, until_position)
  WHERE state = 'COMMITTED' AND until_position IS NOT NULL;
CREATE INDEX records_ended_at ON records (subject, object, key, until_at)
  WHERE state = 'COMMITTED' AND until_position IS NOT NULL;
DROP INDEX records_newest;

-- Orders of leaders to withdraw a part: answers to these questions that were given there earlier may still arrive.
CREATE TABLE leader_orders (
  subject      text NOT NULL,
  object       text NOT NULL,
  key          text NOT NULL,
  -- The leader's base URL.
  source       text NOT NULL,
  -- When the person last withdrew there, by the clock of the leader.
  withdrawn_at timestamptz NOT NULL,
  PRIMARY KEY (subject, object, key, source)
);
CREATE INDEX leader_orders_age ON leader_orders (withdrawn_at);
ALTER TABLE leader_orders SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
ALTER TABLE submissions DROP COLUMN withdrawn_at;

DROP FUNCTION is_newest_at, takes_effect_at(text, text, text, boolean, timestamptz, timestamptz, text, timestamptz),
              takes_effect_at(text, text, text, timestamptz, timestamptz), is_withdrawn_at_leader, is_later, leader_of, withdrawn_since;
