import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { EvidenceFault, parseObject, unreadable } from '#lib/evidence/ndjson.ts';

/** What the manifest states of a file. */
export interface FileDigest {
  /** SHA-256 in hexadecimal. */
  sha256: string;
  /** Number of line feeds. */
  lines: number;
}

/** The digest of a file, in constant memory. */
export async function digestFile(file: string): Promise<FileDigest> {
  const hash = createHash('sha256');
  let lines = 0;
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    for (let at = chunk.indexOf(0x0a); at >= 0; at = chunk.indexOf(0x0a, at + 1)) lines += 1;
  }
  return { sha256: hash.digest('hex'), lines };
}

export const manifestName = 'manifest.json';

/** The only text of a manifest that is right. @param files by name, in the order of their names. */
const writeText = (files: Record<string, FileDigest>) => `${JSON.stringify({ files }, null, 2)}\n`;

async function digestFiles(folder: string, without?: string): Promise<Record<string, FileDigest>> {
  const files: Record<string, FileDigest> = {};
  for (const name of (await readdir(folder)).sort())
    if (name !== manifestName && name !== without) files[name] = await digestFile(path.join(folder, name));
  return files;
}

/** Describes the files of a folder in its manifest. @param options.without a file that is removed next. */
export async function writeManifest(folder: string, { without }: { without?: string } = {}): Promise<void> {
  await writeFile(path.join(folder, manifestName), writeText(await digestFiles(folder, without)));
}

/**
 * Compares the manifest of a folder with every file of it.
 * @throws EvidenceFault.
 */
export async function verifyManifest(folder: string): Promise<void> {
  const bytes = await readFile(path.join(folder, manifestName)).catch((error: Error) => {
    throw unreadable(error, manifestName);
  });
  const { value, text } = parseObject(bytes, manifestName);
  const { files: listed } = value as { files?: Record<string, FileDigest> };
  if (typeof listed !== 'object' || listed === null)
    throw new EvidenceFault(`${manifestName} does not list files.`);
  const found = await digestFiles(folder);
  const missing = Object.keys(listed).find((name) => !Object.hasOwn(found, name));
  if (missing) throw new EvidenceFault(`${missing} of ${manifestName} is missing.`);
  for (const [name, { sha256, lines }] of Object.entries(found)) {
    if (!Object.hasOwn(listed, name)) throw new EvidenceFault(`${manifestName} does not list ${name}.`);
    if (listed[name]?.sha256 !== sha256 || listed[name].lines !== lines)
      throw new EvidenceFault(`${name} is not the file that ${manifestName} describes: it was changed.`);
  }
  if (text !== writeText(found))
    throw new EvidenceFault(`${manifestName} is not written as an export writes it.`);
}
