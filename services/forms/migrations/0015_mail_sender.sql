-- MAIL_FROM, as the service transactions last reported it; null from replicas of earlier releases and without mail.
ALTER TABLE message_channels ADD COLUMN mail_from text;
