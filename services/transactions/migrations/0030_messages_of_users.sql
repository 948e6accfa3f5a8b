-- Which account of role user created the transaction, or the one that it is based on: its messages are counted against
-- that account. Null: created by the organisation or a peer.
ALTER TABLE transactions ADD COLUMN created_by text;
-- False: such an account named an address that it is not known to have. No mail is sent there.
ALTER TABLE transactions ADD COLUMN is_address_known boolean NOT NULL DEFAULT true;

ALTER TABLE messages ADD COLUMN created_by text;
CREATE INDEX messages_created_by ON messages (created_by, created_at) WHERE created_by IS NOT NULL;
-- For the hourly limit of all text messages.
CREATE INDEX messages_sms ON messages (created_at) WHERE prefix IS NOT NULL;
