-- Key or id of the email that subjects who answer at the peer get from this instance.
ALTER TABLE peers ADD COLUMN notification text;
