import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import canonicalize from 'canonicalize';
import { writeManifest } from '#lib/evidence/manifest.ts';
import { temporaryFolder } from '../programs/temporary-folder.ts';

/** The files of a folder of evidence without its manifest, by name. */
export type FolderFiles = Readonly<Record<string, string>>;

export type Json = Record<string, unknown>;

/** The lines of a file, without their line feeds. */
export const linesOf = (text: string): string[] => text.split('\n').slice(0, -1);
export const textOf = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('');
export const write = (value: unknown): string => canonicalize(value) as string;

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
