-- Base URLs of the peers in `ids`, in the same order; the copies of catalogues are stored by URL. NULL: not reported yet.
ALTER TABLE known_peers ADD COLUMN urls text[];
