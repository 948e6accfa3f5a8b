-- While a table has never been analysed PostgreSQL plans for at least ten pages, and statements use indexes. Statistics
-- of a nearly empty table would make them read it whole, and a connection keeps such a plan for up to a minute while the
-- table fills. So the first statistics are taken when there are enough rows (ADR 14).
ALTER TABLE deliveries SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
ALTER TABLE receipts SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
ALTER TABLE seen_tokens SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
ALTER TABLE inbox SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
ALTER TABLE outbox_sent SET (autovacuum_analyze_threshold = 1000, autovacuum_vacuum_threshold = 1000);
