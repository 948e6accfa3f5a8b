-- The thumbprint of our signing key that a peer was last seen to know: with another one it is to be told that there are new keys.
ALTER TABLE peers ADD COLUMN knows_kid text;
