import { createPrivateKey, createPublicKey, hkdfSync, type KeyObject } from 'node:crypto';
import type { PrivateKey } from '#lib/config/secret-values.ts';
import { checkpointText, type LogHead } from '#lib/witness/checkpoint-note.ts';
import { cosign } from '#lib/witness/cosignature.ts';
import { type NoteKey, noteKey, noteTypes, signNote } from '#lib/witness/note.ts';

/** Signs notes for the logs of an instance, and cosigns those of others. */
export interface NoteSigner {
  /** The name of a log: host of the base URL, and area. */
  originOf(area: string): string;
  /** Keys that sign the heads of an area, the current one first. */
  logKeys(area: string): string[];
  /** Keys that cosign, the current one first. */
  witnessKeys: string[];
  /** The signed note of a head, with a signature of each key (ADR 44). */
  signHead(area: string, head: LogHead): string;
  cosign(text: string, at: Date): string;
}

interface Derived {
  privateKey: KeyObject;
  raw: Buffer;
}

/** PKCS #8 of an Ed25519 seed (RFC 8410, section 7). */
const pkcs8 = Buffer.from('302e020100300506032b657004220420', 'hex');

/**
 * Derives an Ed25519 key from a signing key of the instance by HKDF (RFC 5869), so that there is no further
 * secret to keep and to rotate (ADR 44).
 */
function derive({ d }: PrivateKey, use: 'log' | 'witness'): Derived {
  const seed = hkdfSync('sha256', Buffer.from(d, 'base64url'), '', `accord ${use} note key`, 32);
  const der = Buffer.concat([pkcs8, Buffer.from(seed)]);
  const privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { privateKey, raw: Buffer.from(x, 'base64url') };
}

/** @param keys of the instance, the current one first. */
export function createNoteSigner(baseUrl: string, keys: readonly PrivateKey[]): NoteSigner {
  const { host } = new URL(baseUrl);
  const logs = keys.map((key) => derive(key, 'log'));
  const witnesses = keys.map((key) => {
    const { raw, privateKey } = derive(key, 'witness');
    return { privateKey, key: noteKey(`${host}/witness`, noteTypes.cosignature, raw) };
  });
  const [current] = witnesses;
  if (!current) throw new Error('an instance needs a signing key');
  const originOf = (area: string) => `${host}/${area}`;
  const keysOf = (area: string): [NoteKey, KeyObject][] =>
    logs.map(({ raw, privateKey }) => [noteKey(originOf(area), noteTypes.log, raw), privateKey]);
  return {
    originOf,
    logKeys: (area) => keysOf(area).map(([{ vkey }]) => vkey),
    witnessKeys: witnesses.map(({ key }) => key.vkey),
    signHead(area, head) {
      const text = checkpointText({ origin: originOf(area), ...head });
      const lines = keysOf(area).map(([key, privateKey]) => signNote(text, key, privateKey));
      return `${text}\n${lines.join('\n')}\n`;
    },
    cosign: (text, at) => cosign(text, at, current),
  };
}
