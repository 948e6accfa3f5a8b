import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { marked } from 'marked';
import { type Document, isMap, isScalar, LineCounter, parseDocument } from 'yaml';
import { lineWithoutUtf8, notUtf8, textOfUtf8 } from '#lib/text/utf8.ts';
import {
  type FileObject,
  type FileValue,
  isFileReference,
  modelOfFile,
  placesOf,
  type WantedModel,
} from './model-file.ts';
import { isImage } from './model-members.ts';
import type { Schemas } from './models-api.ts';

/** A fault with its place in a file. */
export interface FileFault {
  /** Path from the folder. */
  file: string;
  line?: number;
  /** Such as `texts.fr.title`. */
  member?: string;
  detail: string;
}

/** A file of a model. */
export interface FolderModel {
  /** Path from the folder, with slashes. */
  file: string;
  document: Document;
  lines: LineCounter;
  /** As the file says it, with references to files. */
  value: FileObject;
  model: WantedModel;
}

/** The file of the mappings of AuthZEN. */
export interface FolderMappings extends Pick<FolderModel, 'file' | 'document' | 'lines'> {
  mappings: Schemas['AccessMapping'][];
}

export interface Folder {
  models: FolderModel[];
  /** Undefined if the folder leaves them to the instance. */
  mappings?: FolderMappings;
  /** What a rule of the notice check is that is not met. */
  noticeCheck: 'WARNINGS' | 'FAULTS';
  faults: FileFault[];
}

/** The file with the settings of a folder. */
const settingsFile = 'accord.yaml';
/** The file with the mappings of AuthZEN. */
export const mappingsFile = 'access-mappings.yaml';
/** Larger files are none of models. */
const maxBytes = 1024 * 1024;
const maxImageBytes = 128 * 1024;

/** Reads all models of a folder. Faults name file, line and member. @throws Error if it cannot be read. */
export async function readFolder(root: string): Promise<Folder> {
  const folder: Folder = { models: [], noticeCheck: 'WARNINGS', faults: [] };
  for (const file of await listFiles(root)) {
    const lines = new LineCounter();
    const bytes = await readFile(path.join(root, file));
    const text = textOfUtf8(bytes);
    if (text === undefined) {
      folder.faults.push({ file, line: lineWithoutUtf8(bytes) ?? 1, detail: notUtf8 });
      continue;
    }
    const document = parseDocument(text, { lineCounter: lines });
    const errors = document.errors.map(({ message, linePos }) => ({
      file,
      ...(linePos && { line: linePos[0].line }),
      detail: message.split('\n')[0]?.replace(/ at line \d+, column \d+:?$/, '') ?? '',
    }));
    folder.faults.push(...errors);
    if (errors.length > 0) continue;
    if (file === settingsFile) readSettings(folder, document);
    else if (file === mappingsFile) readMappings(folder, { file, document, lines });
    else await readModel(root, folder, { file, document, lines });
  }
  return folder;
}

async function listFiles(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /\.ya?ml$/.test(entry.name))
    .map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'))
    .filter((file) => !file.split('/').some((part) => part.startsWith('.')))
    .toSorted();
}

function readSettings(folder: Folder, document: Document): void {
  const { faults } = folder;
  const { noticeCheck = 'warnings', ...others } = (document.toJS() ?? {}) as Record<string, unknown>;
  if (noticeCheck === 'faults') folder.noticeCheck = 'FAULTS';
  else if (noticeCheck !== 'warnings')
    faults.push({ file: settingsFile, member: 'noticeCheck', detail: 'must be warnings or faults' });
  for (const member of Object.keys(others))
    faults.push({ file: settingsFile, member, detail: 'is not a setting' });
}

/** What each mapping says, the API checks. */
function readMappings(folder: Folder, read: Pick<FolderModel, 'file' | 'document' | 'lines'>): void {
  const { mappings, ...others } = (read.document.toJS({ maxAliasCount: 100 }) ?? {}) as Record<
    string,
    unknown
  >;
  if (!Array.isArray(mappings)) {
    folder.faults.push({ file: mappingsFile, member: 'mappings', detail: 'must be a list' });
    return;
  }
  for (const member of Object.keys(others))
    folder.faults.push({ ...locate(read, `/${member}`), detail: 'is not a member of this file' });
  folder.mappings = { ...read, mappings };
}

async function readModel(
  root: string,
  { models, faults }: Folder,
  read: Pick<FolderModel, 'file' | 'document' | 'lines'>,
): Promise<void> {
  const { file, document } = read;
  const after = document.getIn(['change', 'after'], true);
  // 1.0 is a number in YAML, and a serial here.
  if (isScalar(after) && typeof after.value === 'number') after.value = after.source ?? String(after.value);
  const value: unknown = document.toJS({ maxAliasCount: 100 });
  if (!isMap(document.contents)) {
    faults.push({ file, line: 1, detail: 'is not a model: it has no members' });
    return;
  }
  const texts: FileFault[] = [];
  const logos = new Map<string, string>();
  const resolved = await resolveTexts(value as FileValue, { root, file, place: [], logos }, texts);
  faults.push(...texts.map((fault) => ({ ...fault, ...placeOf(read, [(fault.member ?? '').split('.')]) })));
  const model = modelOfFile(resolved as FileObject);
  if (logos.size > 0) model.logos = Array.from(logos, ([name, image]) => ({ name, image }));
  models.push({ ...read, value: value as FileObject, model });
}

interface Place {
  root: string;
  file: string;
  place: readonly string[];
  /** Images by name, in base64. */
  logos: Map<string, string>;
}

/** Puts the texts of files in the places of their references. Images are kept beside, under the names. */
async function resolveTexts(value: FileValue, at: Place, faults: FileFault[]): Promise<FileValue> {
  if (isFileReference(value)) return readText(value.file, at, faults);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const resolved: FileObject = {};
  for (const [name, each] of Object.entries(value))
    resolved[name] = await resolveTexts(each, { ...at, place: [...at.place, name] }, faults);
  return resolved;
}

async function readText(
  name: string,
  { root, file, place, logos }: Place,
  faults: FileFault[],
): Promise<string> {
  const found = path.resolve(root, path.dirname(file), name);
  const fail = (detail: string) => {
    faults.push({ file, member: place.join('.'), detail });
    return '';
  };
  if (!found.startsWith(path.resolve(root) + path.sep)) return fail(`${name} is not in the folder`);
  const bytes = await readFile(found).catch(() => undefined);
  if (!bytes) return fail(`${name} cannot be read`);
  if (isImage(place.at(-1) ?? '')) {
    if (bytes.length > maxImageBytes) return fail(`${name} has more than 128 KiB`);
    logos.set(name, bytes.toString('base64'));
    return name;
  }
  if (bytes.length > maxBytes) return fail(`${name} has more than 1 MiB`);
  const text = textOfUtf8(bytes)?.trimEnd();
  if (text === undefined) return fail(`${name}, line ${lineWithoutUtf8(bytes)}: ${notUtf8}`);
  return name.endsWith('.md') ? renderMarkdown(text) : text;
}

/** Markdown as rich text; what rich text does not have is removed by the instance. */
export function renderMarkdown(text: string): string {
  return marked.parse(text, { async: false, gfm: true }).trimEnd();
}

/** The line and the member of a fault, whose pointer is into the model of a file. */
export function locate(read: Pick<FolderModel, 'file' | 'document' | 'lines'>, pointer: string) {
  return { file: read.file, ...placeOf(read, placesOf(pointer)) };
}

/** The first of some paths that is there, or the longest part of the first one that is. */
function placeOf({ document, lines }: Pick<FolderModel, 'document' | 'lines'>, paths: readonly string[][]) {
  const [wanted = []] = paths;
  const found = paths.map((each) => ({ each, known: knownPart(document, each) }));
  const whole = found.find(({ each, known }) => known.length === each.length);
  const { known } = whole ??
    found.toSorted((one, other) => other.known.length - one.known.length)[0] ?? { known: [] };
  const offset = keyOffset(document, known);
  const member = (whole?.each ?? wanted).join('.');
  return { ...(offset !== undefined && { line: lines.linePos(offset).line }), ...(member && { member }) };
}

function knownPart(document: Document, wanted: readonly string[]): string[] {
  let length = wanted.length;
  while (length > 0 && !document.hasIn(numbered(wanted.slice(0, length)))) length -= 1;
  return wanted.slice(0, length);
}

/** Items of lists are named by numbers. */
const numbered = (names: readonly string[]) =>
  names.map((name) => (/^\d+$/.test(name) ? Number(name) : name));

/** Where the name of a member begins; of an item of a list, where the item begins. */
function keyOffset(document: Document, names: readonly string[]): number | undefined {
  const parent = names.length > 1 ? document.getIn(numbered(names.slice(0, -1)), true) : document.contents;
  const last = names.at(-1);
  if (isMap(parent)) {
    const pair = parent.items.find(({ key }) => isScalar(key) && String(key.value) === last);
    if (pair && isScalar(pair.key)) return pair.key.range?.[0];
  }
  const node = last === undefined ? undefined : document.getIn(numbered(names), true);
  return (node as { range?: [number, number, number] } | undefined)?.range?.[0] ?? 0;
}
