import { randomFillSync } from 'node:crypto';
import { v7 } from 'uuid';

/** 128 bits per id. */
const bytes = 16;

/** Random bytes are drawn for 256 ids at once: one call per id costs more than the rest of an id. */
const pool = Buffer.alloc(bytes * 256);
let used = pool.length;

/** Returns 16 fresh random bytes. Read them before the next call: they share a buffer. */
export function drawBytes(): Buffer {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.subarray(used - bytes, used);
}

/** A UUID of version 7 (RFC 9562): consecutive ids are neighbours in an index. */
export function newUuid(): string {
  return v7({ random: drawBytes() });
}

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const length = 22;

/** 128 random bits in base58, always 22 characters: the ids of transactions and receipts. */
export function randomId(): string {
  const bytes = drawBytes();
  let rest = (bytes.readBigUInt64BE(0) << 64n) | bytes.readBigUInt64BE(8);
  let id = '';
  while (id.length < length) {
    id = alphabet[Number(rest % 58n)] + id;
    rest /= 58n;
  }
  return id;
}
