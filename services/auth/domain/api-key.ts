import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { base62 } from './base62.ts';

/** What a key may do: call the API as an operator, or pair with a peer once (docs/federation.md and docs/interface.md, "Credentials"). */
export type KeyScope = 'OWNER' | 'PEER';

const pattern = /^acc_([0-9a-f]{32})_[0-9A-Za-z]{43}_([0-9A-Za-z]{6})$/;

/**
 * Draws a key `acc_<id>_<43 base62>_<checksum>` (security.md, "API keys"): the id finds its row, 256 random bits are the secret,
 * and the checksum lets a scanner of leaked secrets tell a key from chance.
 * @param id a UUID.
 */
export function drawApiKey(id: string): string {
  const body = `acc_${id.replaceAll('-', '')}_${base62(randomBytes(32), 43)}`;
  return `${body}_${checksum(body)}`;
}

/** True for a text that is meant to be a key, well-formed or not. */
export function resemblesApiKey(text: string): boolean {
  return text.startsWith('acc_');
}

/** The id (a UUID) in a well-formed key; undefined for anything else. */
export function readApiKeyId(key: string): string | undefined {
  const [, id, sum] = pattern.exec(key) ?? [];
  if (!id || sum !== checksum(key.slice(0, key.lastIndexOf('_')))) return undefined;
  return id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function checksum(body: string): string {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(crc32(body));
  return base62(bytes, 6);
}
