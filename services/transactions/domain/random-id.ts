import { randomFillSync } from 'node:crypto';

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const length = 22;
const bytes = 16;

/** Random bytes are drawn for many ids at once: a call for each costs more than the rest of it. */
const pool = Buffer.alloc(bytes * 256);
let used = pool.length;

/** 128 random bits in base58, always 22 characters: the ids of transactions and receipts. */
export function randomId(): string {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  let rest = (pool.readBigUInt64BE(used) << 64n) | pool.readBigUInt64BE(used + 8);
  used += bytes;
  let id = '';
  while (id.length < length) {
    id = alphabet[Number(rest % 58n)] + id;
    rest /= 58n;
  }
  return id;
}
