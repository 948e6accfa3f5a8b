import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { digestFile } from '#lib/evidence/file-digest.ts';
import { temporaryFolder } from '../programs/temporary-folder.ts';

/** The files of a folder of evidence without its manifest, by name. */
export type FolderFiles = Readonly<Record<string, string>>;

export async function readFiles(folder: string): Promise<FolderFiles> {
  const names = (await readdir(folder)).filter((name) => name !== 'manifest.json').sort();
  const texts = await Promise.all(names.map((name) => readFile(path.join(folder, name), 'utf8')));
  return Object.fromEntries(names.map((name, index) => [name, texts[index] ?? '']));
}

/** Writes the files into a new folder, with a manifest that describes them. @returns the folder. */
export async function writeFolder(files: FolderFiles): Promise<string> {
  const folder = await temporaryFolder();
  for (const [name, text] of Object.entries(files)) await writeFile(path.join(folder, name), text);
  await writeManifest(folder);
  return folder;
}

/** Describes the files of a folder in its manifest, as the export does. */
export async function writeManifest(folder: string): Promise<void> {
  const described: Record<string, object> = {};
  for (const name of (await readdir(folder)).sort())
    if (name !== 'manifest.json') described[name] = await digestFile(path.join(folder, name));
  await writeFile(path.join(folder, 'manifest.json'), `${JSON.stringify({ files: described }, null, 2)}\n`);
}
