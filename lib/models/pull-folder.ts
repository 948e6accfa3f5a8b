import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Document, isMap, isScalar, type Node, type YAMLMap } from 'yaml';
import { StartupError } from '#lib/errors/fail.ts';
import {
  type FileObject,
  type FileValue,
  fileOfModel,
  isFileReference,
  type ModelFile,
  type ModelImage,
  type WantedModel,
} from './model-file.ts';
import type { ModelsApi, Schemas } from './models-api.ts';
import { planFolder, readActive } from './plan-folder.ts';
import { isSame } from './proposed-type.ts';
import { pullMappings } from './pull-mappings.ts';
import { type Folder, type FolderModel, mappingsFile } from './read-folder.ts';

/** What became of the files of a folder. */
export interface Pulled {
  written: string[];
  unchanged: number;
  /** Files of models that are not ACTIVE at the instance; they are left as they are. */
  missing: string[];
}

/**
 * Writes the ACTIVE models of an instance into a folder. A file that says the same stays as it is; in others
 * what differs is changed, and comments are kept.
 * @throws StartupError if a file of the folder has faults.
 */
export async function pullFolder(api: ModelsApi, root: string, folder: Folder): Promise<Pulled> {
  const [fault] = folder.faults;
  if (fault) throw new StartupError(`${fault.file} has faults, and nothing was pulled: ${fault.detail}`);
  const pulled: Pulled = { written: [], unchanged: 0, missing: [] };
  const { mappings, ...ofModels } = folder;
  const { steps } = await planFolder(api, ofModels, false);
  const same = new Set(steps.flatMap(({ step }) => (step.change === 'UNCHANGED' ? [step.key] : [])));
  const files = new Map(folder.models.map((each) => [String(each.model.key), each]));
  const taken = new Set(folder.models.map(({ file }) => file));
  const found = new Set<string>();
  for await (const entries of readActive(api))
    for (const entry of entries) {
      found.add(entry.key);
      if (same.has(entry.key)) pulled.unchanged += 1;
      else {
        const known = files.get(entry.key);
        const file = known?.file ?? freeName(`${entry.type}/${entry.key}`, taken);
        taken.add(file);
        pulled.written.push(...(await pullModel(api, root, entry, { file, known })));
      }
    }
  const ofMappings = await pullMappings(api, root, mappings);
  if (ofMappings === 'written') pulled.written.push(mappingsFile);
  if (ofMappings === 'unchanged') pulled.unchanged += 1;
  pulled.missing = folder.models.filter(({ model }) => !found.has(String(model.key))).map(({ file }) => file);
  return pulled;
}

/** The file of a new model; another model may have a file of that name. */
function freeName(base: string, taken: ReadonlySet<string>): string {
  let name = `${base}.yaml`;
  for (let number = 2; taken.has(name); number += 1) name = `${base}-${number}.yaml`;
  return name;
}

/** @returns the files that were written. */
async function pullModel(
  api: ModelsApi,
  root: string,
  entry: Schemas['Entry'],
  { file, known }: { file: string; known: FolderModel | undefined },
): Promise<string[]> {
  const model = await readModel(api, entry);
  const base = path.posix.basename(file).replace(/\.ya?ml$/, '');
  const made = fileOfModel(model, base, await readImages(api, model));
  const document = known ? merge(known, made) : new Document(made.value);
  const folder = path.join(root, path.dirname(file));
  await mkdir(folder, { recursive: true });
  for (const [name, text] of made.texts) await writeFile(path.join(folder, name), `${text}\n`);
  for (const [name, bytes] of made.images) await writeFile(path.join(folder, name), bytes);
  if (known) await removeUnused(folder, known.value, made);
  await writeFile(path.join(root, file), document.toString({ lineWidth: 100, blockQuote: 'literal' }));
  const others = [...made.texts.keys(), ...made.images.keys()];
  return [file, ...others.map((name) => path.posix.join(path.posix.dirname(file), name))];
}

async function readModel(api: ModelsApi, entry: Schemas['Entry']): Promise<WantedModel> {
  const { id, key, type, name, description, shared, sharedWith, default: isDefault, versions } = entry;
  const active = versions.find(({ status }) => status === 'ACTIVE');
  const { defaultLanguage, data } = await api.get<Schemas['Version']>(`/models/${id}/versions/${active?.id}`);
  const told = { key, type, name, shared, sharedWith, default: isDefault, defaultLanguage, data };
  return description === undefined ? told : { ...told, description };
}

/** The images of a theme by their paths. */
async function readImages(api: ModelsApi, { type, data }: WantedModel): Promise<Map<unknown, ModelImage>> {
  const images = new Map<unknown, ModelImage>();
  if (type !== 'theme') return images;
  for (const content of Object.values(data) as Record<string, unknown>[])
    for (const value of [content.icon, content.logoPath])
      if (typeof value === 'string' && value !== '' && !images.has(value)) {
        const { type: mediaType, bytes } = await api.file(value);
        images.set(value, { extension: mediaType.replace('image/', '').replace('jpeg', 'jpg'), bytes });
      }
  return images;
}

/** Changes in a file what differs; comments and the order of members stay. */
function merge(known: FolderModel, made: ModelFile): Document {
  const document = known.document.clone() as Document;
  if (isMap(document.contents)) mergeMap(document, document.contents, made.value);
  return document;
}

function mergeMap(document: Document, map: YAMLMap, wanted: FileObject): void {
  for (const { key } of [...map.items]) {
    const name = isScalar(key) ? String(key.value) : '';
    if (!Object.hasOwn(wanted, name)) map.delete(key);
  }
  for (const [name, value] of Object.entries(wanted)) {
    const node = map.get(name, true) as Node | undefined;
    if (isMap(node) && isPlain(value) && !isFileReference(value)) mergeMap(document, node, value);
    else if (!node || !isSame(node.toJS(document), value)) setValue(document, map, name, value);
  }
}

/** A comment behind a value, or before it, stays with the member. */
function setValue(document: Document, map: YAMLMap, name: string, value: FileValue): void {
  const former = map.get(name, true) as Node | undefined;
  const made = document.createNode(value) as Node;
  if (former?.comment) made.comment = former.comment;
  if (former?.commentBefore) made.commentBefore = former.commentBefore;
  map.set(name, made);
}

const isPlain = (value: FileValue): value is FileObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Deletes the texts that the file named and names no more. */
async function removeUnused(folder: string, before: FileObject, made: ModelFile): Promise<void> {
  for (const name of referencesIn(before))
    if (
      !made.texts.has(name) &&
      !made.images.has(name) &&
      (await readFile(path.join(folder, name)).catch(() => undefined))
    )
      await rm(path.join(folder, name));
}

function referencesIn(value: FileValue): string[] {
  if (isFileReference(value)) return [value.file];
  if (typeof value !== 'object' || value === null) return [];
  return Object.values(value).flatMap(referencesIn);
}
