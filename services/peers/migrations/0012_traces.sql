-- The place in the trace of the submission (W3C Trace Context), which the attempts continue; null without tracing.
ALTER TABLE deliveries ADD COLUMN traceparent text;
