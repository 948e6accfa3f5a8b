import { randomFillSync } from 'node:crypto';

/** As many as an id needs: 128 bits. */
const bytes = 16;

/** Drawn for many ids at once: a call for each would cost more than the rest of an id. */
const pool = Buffer.alloc(bytes * 256);
let used = pool.length;

/** 16 random bytes that nobody else gets; to be read before the next are drawn. */
export function drawBytes(): Buffer {
  if (used === pool.length) {
    randomFillSync(pool);
    used = 0;
  }
  used += bytes;
  return pool.subarray(used - bytes, used);
}
