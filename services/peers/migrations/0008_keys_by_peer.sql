-- A key is looked up by the peer that is said to have signed, and its thumbprint (docs/federation.md, "Requests between peers"). A peer that
-- lists another's public key cannot sign with it, and must not keep the other from pairing or from changing its keys.
ALTER TABLE peer_keys DROP CONSTRAINT peer_keys_pkey, ADD PRIMARY KEY (peer, kid);
COMMENT ON TABLE peer_keys IS 'Pinned keys, by peer.';
