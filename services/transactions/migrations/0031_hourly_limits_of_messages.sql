-- created_by of transactions and messages holds every creator now: "user:…" for accounts of role user, "staff user:…",
-- "key:…" and "peer:…" for the others. Null: not known, or erased.

-- When the message began to count against the hourly limits of mails and of its creator. Infinity: it waits until a limit
-- allows it (not_before is infinity, too). Minus infinity: it was stored before this column, or failed because of a limit.
ALTER TABLE messages ADD COLUMN counted_at timestamptz NOT NULL DEFAULT '-infinity';
CREATE INDEX messages_mails_counted ON messages (counted_at) WHERE channel = 'mail';
CREATE INDEX messages_creator_counted ON messages (created_by, counted_at) WHERE created_by IS NOT NULL;
CREATE INDEX messages_waiting ON messages (created_by, created_at, id) WHERE counted_at = 'infinity';
DROP INDEX messages_created_by;
