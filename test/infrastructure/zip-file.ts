import { inflateRawSync } from 'node:zlib';

const endOfDirectory = 0x06054b50;
const stored = 0;

/**
 * Reads a file of a ZIP archive (APPNOTE 6.3, without ZIP64 and encryption).
 * @throws Error if the archive has no such file.
 */
export function readZipEntry(archive: Buffer, name: string): Buffer {
  let end = archive.length - 22;
  while (end >= 0 && archive.readUInt32LE(end) !== endOfDirectory) end -= 1;
  if (end < 0) throw new Error('The file is no ZIP archive.');
  let at = archive.readUInt32LE(end + 16);
  for (let count = archive.readUInt16LE(end + 10); count > 0; count -= 1) {
    const nameLength = archive.readUInt16LE(at + 28);
    const next = at + 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
    if (archive.toString('utf8', at + 46, at + 46 + nameLength) === name) return unpack(archive, at);
    at = next;
  }
  throw new Error(`The archive has no ${name}.`);
}

/** @param at the entry of the file in the directory. */
function unpack(archive: Buffer, at: number): Buffer {
  const size = archive.readUInt32LE(at + 20);
  const local = archive.readUInt32LE(at + 42);
  const start = local + 30 + archive.readUInt16LE(local + 26) + archive.readUInt16LE(local + 28);
  const content = archive.subarray(start, start + size);
  return archive.readUInt16LE(at + 10) === stored ? content : inflateRawSync(content);
}
