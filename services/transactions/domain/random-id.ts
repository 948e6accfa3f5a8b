import { randomBytes } from 'node:crypto';

const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';
const length = 22;

/** 128 random bits in base58, always 22 characters: the ids of transactions and receipts. */
export function randomId(): string {
  let rest = BigInt(`0x${randomBytes(16).toString('hex')}`);
  let id = '';
  while (id.length < length) {
    id = alphabet[Number(rest % 58n)] + id;
    rest /= 58n;
  }
  return id;
}
