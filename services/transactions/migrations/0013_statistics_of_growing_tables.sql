-- While a table has never been analysed PostgreSQL plans for at least ten pages, and statements use indexes. Statistics
-- of a nearly empty table would make them read it whole, and a connection keeps such a plan for up to a minute while the
-- table fills. So the first statistics are taken when there are enough rows (ADR 14).
ALTER TABLE transactions SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
ALTER TABLE transaction_history SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
ALTER TABLE context_claims SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
ALTER TABLE records SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
ALTER TABLE receipts SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
ALTER TABLE subjects SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
ALTER TABLE followers SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
ALTER TABLE receipt_drafts SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
ALTER TABLE submissions SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
ALTER TABLE inbox SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
ALTER TABLE outbox_sent SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
