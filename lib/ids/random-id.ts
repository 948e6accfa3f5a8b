import { drawBytes } from '#lib/ids/draw-bytes.ts';

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
