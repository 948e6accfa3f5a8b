-- WITHDRAWAL: the transaction was made to withdraw consents, without a form. Null: answers to a form.
ALTER TABLE transactions ADD COLUMN kind text;

-- The accepted record that this refusal ended; null unless it was the newest one.
ALTER TABLE records ADD COLUMN withdraws uuid;

-- When answers that wait for a code or for peers take effect: `at`, unless the same question was withdrawn after they
-- were given; then they count as older than the withdrawal. A withdrawal that is being stored is waited for.
CREATE FUNCTION takes_effect_at(of_subject text, of_object text, of_key text, given timestamptz, at timestamptz)
RETURNS timestamptz LANGUAGE plpgsql VOLATILE AS
$$ BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtext('subject'), hashtext(of_subject));
  -- Each statement of a volatile function sees what was committed before it, so this one sees that withdrawal.
  RETURN coalesce(
    (SELECT min(r.committed_at) - interval '1 millisecond' FROM records AS r
      WHERE r.state = 'COMMITTED' AND r.subject = of_subject AND r.object = of_object AND r.key = of_key
        AND r.committed_at > given AND r.withdraws IS NOT NULL), at);
END $$;
