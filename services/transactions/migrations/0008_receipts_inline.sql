-- A receipt and its signed form take one page, and signatures cannot be compressed: trying to, and storing both elsewhere, takes three times as long.
ALTER TABLE receipts SET (toast_tuple_target = 8160);
