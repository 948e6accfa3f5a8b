-- When the person withdrew a part at its leader, by the clock of the leader; null if no order states it, or if the part
-- was not in force when the order arrived.
ALTER TABLE submissions ADD COLUMN withdrawn_at timestamptz;
CREATE INDEX submissions_withdrawn ON submissions (peer, withdrawn_at) WHERE withdrawn_at IS NOT NULL;

-- The base URL of the peer that showed the form of a transaction, or that ordered this withdrawal of a part; null if
-- the transaction is this instance's own.
CREATE FUNCTION leader_of(of_transaction text) RETURNS text LANGUAGE sql STABLE AS
$$ SELECT coalesce(t.leader->>'location', CASE WHEN t.context->>'origin' = 'PEER' THEN p.leader->>'location' END)
     FROM transactions AS t LEFT JOIN transactions AS p ON p.id = t.parent WHERE t.id = of_transaction $$;

-- Whether the committed answer `r` is later than an answer to the same question that was given at `given` to the form
-- of `of_leader` (null: a form of this instance). Answers to the forms of one leader are compared by the times that the
-- leader states. Of all others only refusals are later that were stored after the answer was given: for an answer of a
-- part every such refusal; for an answer to an own form those that ended a consent, without those of a peer's order.
-- `arrived` is the arrival of a part, else `given`: the clock of a leader may be half a minute ahead.
CREATE FUNCTION is_later(r records, given timestamptz, arrived timestamptz, of_leader text)
RETURNS boolean LANGUAGE sql STABLE AS
$$ SELECT CASE
     WHEN leader_of(r.transaction) = of_leader THEN r.created_at > given
     WHEN r.committed_at <= least(given, arrived) OR r.type = 'preference' OR r.value <> '{refused}' THEN false
     WHEN of_leader IS NOT NULL THEN true
     ELSE r.withdraws IS NOT NULL AND NOT EXISTS (
            SELECT FROM transactions AS t WHERE t.id = r.transaction AND t.kind = 'WITHDRAWAL' AND r.origin = 'PEER')
   END $$;

-- Whether the leader of a consent has ordered, later than it was given, to withdraw a part with the same question.
CREATE FUNCTION is_withdrawn_at_leader(
  of_subject text, of_object text, of_key text, given timestamptz, of_leader text)
RETURNS boolean LANGUAGE sql STABLE AS
$$ SELECT EXISTS (
     SELECT FROM submissions AS s JOIN transactions AS t ON t.id = s.transaction
      WHERE s.peer = of_leader AND s.withdrawn_at > given AND t.subject = of_subject
        AND coalesce(t.context->>'object', '') = of_object AND t.layout->'elements' ? of_key) $$;

-- Returns when an answer takes effect that waited for a code, for peers or for its leader, or whose part has arrived. The
-- answer counts as older than the answers that are later; otherwise an answer of a part counts as newer than all
-- others. Parts of one person are stored one after the other. Processes of earlier releases call the function of 0017,
-- which has the same name and five arguments.
CREATE FUNCTION takes_effect_at(
  of_subject text, of_object text, of_key text, is_consent boolean, given timestamptz, arrived timestamptz,
  of_leader text, at timestamptz)
RETURNS timestamptz LANGUAGE plpgsql VOLATILE AS
$$ DECLARE
  later timestamptz;
  newest timestamptz;
BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtext('subject'), hashtext(of_subject));
  IF of_leader IS NOT NULL THEN
    PERFORM pg_advisory_xact_lock(hashtext('parts'), hashtext(of_subject));
  END IF;
  -- Each statement of a volatile function sees what was committed before it, so this one sees what the locks have waited
  -- for.
  SELECT min(r.committed_at) INTO later FROM records AS r
   WHERE r.state = 'COMMITTED' AND r.subject = of_subject AND r.object = of_object AND r.key = of_key
     AND r.committed_at > given - interval '1 minute' AND is_later(r, given, arrived, of_leader);
  IF later IS NULL AND of_leader IS NOT NULL THEN
    SELECT r.committed_at INTO newest FROM records AS r
     WHERE r.state = 'COMMITTED' AND r.subject = of_subject AND r.object = of_object AND r.key = of_key
     ORDER BY r.committed_at DESC LIMIT 1;
    IF is_consent AND is_withdrawn_at_leader(of_subject, of_object, of_key, given, of_leader) THEN
      later := newest;
    END IF;
  END IF;
  RETURN coalesce(later - interval '1 millisecond', greatest(at, newest + interval '1 millisecond'));
END $$;

-- Whether the answer of a part takes effect at `at`, and the calling statement sees the newest committed answer. `seen`:
-- when the newest answer took effect that the statement sees; null without an answer.
CREATE FUNCTION is_newest_at(
  of_subject text, of_object text, of_key text, is_consent boolean, given timestamptz, of_leader text,
  at timestamptz, seen timestamptz)
RETURNS boolean LANGUAGE plpgsql VOLATILE AS
$$ BEGIN
  IF takes_effect_at(of_subject, of_object, of_key, is_consent, given, at, of_leader, at) <> at THEN
    RETURN false;
  END IF;
  RETURN seen IS NOT DISTINCT FROM (
    SELECT max(r.committed_at) FROM records AS r
     WHERE r.state = 'COMMITTED' AND r.subject = of_subject AND r.object = of_object AND r.key = of_key);
END $$;
