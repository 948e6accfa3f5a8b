-- Keys that may only ask for decisions; with `elements`, only about these keys of elements.
ALTER TABLE api_keys DROP CONSTRAINT api_keys_scope_check;
ALTER TABLE api_keys ADD CONSTRAINT api_keys_scope_check CHECK (scope IN ('OWNER', 'PEER', 'DECISION'));
ALTER TABLE api_keys ADD COLUMN elements text[] CHECK (elements IS NULL OR scope = 'DECISION');
