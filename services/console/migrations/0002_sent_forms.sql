-- Forms that create something and were sent: the same form makes nothing twice.
CREATE TABLE sent_forms (
  once       text PRIMARY KEY,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX sent_forms_created ON sent_forms (created_at);
