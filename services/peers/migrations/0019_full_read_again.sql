-- Whether a full read of the catalogue was requested while another read is in progress.
ALTER TABLE catalogues ADD COLUMN full_again boolean NOT NULL DEFAULT false;
