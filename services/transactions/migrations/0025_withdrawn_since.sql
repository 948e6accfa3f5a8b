-- Whether the person has withdrawn consents since a time. A withdrawal that is being stored is waited for.
CREATE FUNCTION withdrawn_since(of_subject text, given timestamptz)
RETURNS boolean LANGUAGE plpgsql VOLATILE AS
$$ BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtext('subject'), hashtext(of_subject));
  -- Each statement of a volatile function sees what was committed before it, so this one sees that withdrawal.
  RETURN EXISTS (SELECT FROM transactions AS t
                  WHERE t.subject = of_subject AND t.kind = 'WITHDRAWAL' AND t.changed_at > given);
END $$;
