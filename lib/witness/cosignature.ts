import { type KeyObject, sign, verify } from 'node:crypto';
import { isOfKey, type NoteKey, readSignature, writeSignature } from '#lib/witness/note.ts';

const timeBytes = 8;

/** What a witness signs (c2sp.org/tlog-cosignature, Ed25519). @param time in seconds since 1970. */
function message(text: string, time: bigint): Buffer {
  return Buffer.from(`cosignature/v1\ntime ${time}\n${text}`);
}

/** Cosigns the text of a checkpoint. @returns a line of a note, without its line feed. */
export function cosign(text: string, at: Date, { key, privateKey }: { key: NoteKey; privateKey: KeyObject }) {
  const time = BigInt(Math.floor(at.getTime() / 1000));
  const coded = Buffer.alloc(timeBytes);
  coded.writeBigUInt64BE(time);
  return writeSignature(key, Buffer.concat([coded, sign(null, message(text, time), privateKey)]));
}

/** Whether a line is the cosignature of a witness under the text of a checkpoint. */
export function isCosignature(line: string, text: string, key: NoteKey): boolean {
  const read = readSignature(line);
  if (!read || !isOfKey(read, key) || read.bytes.length <= timeBytes) return false;
  const time = read.bytes.readBigUInt64BE();
  return verify(null, message(text, time), key.key, read.bytes.subarray(timeBytes));
}
