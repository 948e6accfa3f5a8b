-- Transactions whose last code has expired are ended. Codes that were not used end with their transaction.
DELETE FROM codes AS c
 USING transactions AS t
 WHERE t.id = c.transaction AND c.used_at IS NULL AND t.state NOT IN ('CREATED', 'SUBMITTED');
CREATE INDEX codes_last ON codes (expires_at) WHERE number = 3 AND used_at IS NULL;
