-- An invited account has the hash of a random password, which nobody knows, until the invited person chooses one.
ALTER TABLE accounts
  ADD COLUMN invited         boolean NOT NULL DEFAULT false,
  ADD COLUMN disabled_at     timestamptz,
  ADD COLUMN last_sign_in_at timestamptz;
-- The list, newest first (keyset on created, id).
CREATE INDEX accounts_by_creation ON accounts (created_at DESC, id DESC);

-- The link with which a person chooses a password; the link of the first account has no account yet.
ALTER TABLE setup_links ADD COLUMN account uuid UNIQUE REFERENCES accounts ON DELETE CASCADE;

-- Everything of one account, which ends with its sessions: an interaction has the account that signed in.
CREATE INDEX issuer_items_account ON issuer_items
  ((coalesce(payload ->> 'accountId', payload #>> '{result,login,accountId}')));
