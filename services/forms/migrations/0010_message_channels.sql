-- The channels for messages to subjects that are configured, as the service transactions last reported them. No row: not reported yet.
CREATE TABLE message_channels (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  names  text[] NOT NULL
);
