-- The keys that are pinned for the peer at an address. A change of them that is being stored is waited for (`pinKeys`
-- takes the lock exclusively), so that no delivery is bound to keys that have just been replaced.
CREATE FUNCTION pinned_keys(of_url text)
RETURNS text[] LANGUAGE plpgsql VOLATILE AS
$$ BEGIN
  PERFORM pg_advisory_xact_lock_shared(hashtext('peer keys'), hashtext(of_url));
  -- Each statement of a volatile function sees what was committed before it, so this one sees that change.
  RETURN ARRAY(SELECT k.kid FROM peer_keys AS k JOIN peers AS p ON p.id = k.peer
                WHERE p.url = of_url AND k.use = 'sig');
END $$;
