import { createHash, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';

/** Types of signatures (c2sp.org/signed-note): of a log, and of a witness with its time. */
export const noteTypes = { log: 0x01, cosignature: 0x04 } as const;
export type NoteType = (typeof noteTypes)[keyof typeof noteTypes];

/** A public Ed25519 key under its name. */
export interface NoteKey {
  name: string;
  type: NoteType;
  /** The first four bytes of the hash of name, type and key. */
  id: Buffer;
  key: KeyObject;
  /** The key as text: `<name>+<id>+<type and key>`. */
  vkey: string;
}

/** A line of a note, as it is written. */
export interface NoteSignature {
  name: string;
  id: Buffer;
  /** What the line has after the id. */
  bytes: Buffer;
  line: string;
}

/** A signed note: its text with the last line feed, and who signed it. */
export interface Note {
  text: string;
  signatures: NoteSignature[];
}

const dash = '\u2014';
const keyBytes = 32;
const idBytes = 4;
const maxVkey = 300;
/** The specification asks for 16 at least. */
const maxSignatures = 64;
/** A name has neither white space nor a plus sign. */
const name = /^[^\s+\p{Cc}]+$/u;

/** Makes a key from its 32 bytes. @param raw as RFC 8032 encodes a public key. */
export function noteKey(keyName: string, type: NoteType, raw: Uint8Array): NoteKey {
  const coded = Buffer.concat([Buffer.of(type), raw]);
  const id = createHash('sha256').update(`${keyName}\n`).update(coded).digest().subarray(0, idBytes);
  const x = Buffer.from(raw).toString('base64url');
  const key = createPublicKey({ format: 'jwk', key: { kty: 'OKP', crv: 'Ed25519', x } });
  return {
    name: keyName,
    type,
    id,
    key,
    vkey: `${keyName}+${id.toString('hex')}+${coded.toString('base64')}`,
  };
}

/**
 * Reads a key as text. @param as the type to verify with: keys of witnesses are often published with the type
 * of a log. @returns undefined for a text that is no Ed25519 key under its own id.
 */
export function readNoteKey(text: string, as?: NoteType): NoteKey | undefined {
  if (text.length > maxVkey) return undefined;
  const [keyName = '', id = '', ...rest] = text.split('+');
  const coded = readBase64(rest.join('+'));
  const type = coded?.[0];
  if (!coded || coded.length !== 1 + keyBytes || !name.test(keyName)) return undefined;
  if (type !== noteTypes.log && type !== noteTypes.cosignature) return undefined;
  const read = noteKey(keyName, type, coded.subarray(1));
  if (read.id.toString('hex') !== id) return undefined;
  return as === undefined || as === type ? read : noteKey(keyName, as, coded.subarray(1));
}

/** Reads a note. @returns undefined for a text that is none. */
export function readNote(text: string): Note | undefined {
  const end = text.lastIndexOf('\n\n');
  if (end < 0 || !text.endsWith('\n')) return undefined;
  const lines = text.slice(end + 2, -1).split('\n');
  if (lines.length > maxSignatures) return undefined;
  const signatures = lines.map(readSignature);
  if (!signatures.every((each) => each !== undefined)) return undefined;
  return { text: text.slice(0, end + 1), signatures };
}

/** Reads one line of a note. @returns undefined for another text. */
export function readSignature(line: string): NoteSignature | undefined {
  const [mark, keyName = '', coded = '', ...rest] = line.split(' ');
  const read = readBase64(coded);
  if (mark !== dash || rest.length > 0 || !name.test(keyName) || !read || read.length <= idBytes)
    return undefined;
  return { name: keyName, id: read.subarray(0, idBytes), bytes: read.subarray(idBytes), line };
}

/** Whether a line says that it is of a key; whether it is, its bytes must show. */
export function isOfKey(signature: NoteSignature, { name: keyName, id }: NoteKey): boolean {
  return signature.name === keyName && signature.id.equals(id);
}

/** Writes a line without its line feed. */
export function writeSignature({ name: keyName, id }: NoteKey, bytes: Uint8Array): string {
  return `${dash} ${keyName} ${Buffer.concat([id, bytes]).toString('base64')}`;
}

/** Signs the text of a note as a log does. */
export function signNote(text: string, key: NoteKey, privateKey: KeyObject): string {
  return writeSignature(key, sign(null, Buffer.from(text), privateKey));
}

/**
 * Whether a trusted key of a log has signed a note. False also if a line of a trusted key is not valid,
 * because such a note is malformed.
 */
export function isSignedBy({ text, signatures }: Note, keys: readonly NoteKey[]): boolean {
  const known = signatures.flatMap((signature) => {
    const key = keys.find((each) => isOfKey(signature, each));
    return key ? [verify(null, Buffer.from(text), key.key, signature.bytes)] : [];
  });
  return known.length > 0 && !known.includes(false);
}

/** Reads base64 in its only right form. @returns undefined for another text. */
export function readBase64(text: string): Buffer | undefined {
  const read = Buffer.from(text, 'base64');
  return text !== '' && read.toString('base64') === text ? read : undefined;
}
