import type { components } from '#lib/contracts/openapi.gen.ts';
import { extensionOf, inFileOrder, isImage, isText } from './model-members.ts';
import { isSame } from './proposed-type.ts';

/** A model as `POST /models/plan` takes it. */
export type WantedModel = components['schemas']['WantedModel'];

/** A value of a file: of YAML, with `{ file }` in the place of a text in a file of its own. */
export type FileValue = string | number | boolean | null | FileValue[] | { [name: string]: FileValue };
export type FileObject = { [name: string]: FileValue };

/** The content of a YAML file, and of the files beside it by name. */
export interface ModelFile {
  value: FileObject;
  texts: Map<string, string>;
  images: Map<string, Buffer>;
}

/** An image that a model names by its path. */
export interface ModelImage {
  /** Of the name of its file. */
  extension: string;
  bytes: Buffer;
}

type Content = Record<string, unknown>;

/** The members of a file beside its content, in their order. */
const head = ['key', 'type', 'name', 'description', 'shared', 'sharedWith', 'default', 'change'] as const;

/** Whether a value of a file names the file of a text. */
export function isFileReference(value: unknown): value is { file: string } {
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.keys(value).length === 1 &&
    typeof (value as { file?: unknown }).file === 'string'
  );
}

/**
 * The file of a model: `common` has what all languages share, `texts` what each has of its own.
 * @param base name of the file without `.yaml`. @param images by path; others stay where they are.
 */
export function fileOfModel(
  model: WantedModel,
  base: string,
  images: ReadonlyMap<unknown, ModelImage> = new Map(),
): ModelFile {
  const { type, data, defaultLanguage } = model;
  const languages = Object.keys(data).toSorted(
    (one, other) =>
      Number(other === defaultLanguage) - Number(one === defaultLanguage) || (one < other ? -1 : 1),
  );
  const leaves = new Map(languages.map((language) => [language, leavesOf(data[language] as Content)]));
  const members = inFileOrder(type, [...new Set([...leaves.values()].flatMap((each) => [...each.keys()]))]);
  const files = new Map<string, string>();
  const imageFiles = new Map<string, Buffer>();
  const common: FileObject = {};
  const texts: FileObject = Object.fromEntries(languages.map((language) => [language, {}]));
  for (const member of members) {
    const values = languages.map((language) => leaves.get(language)?.get(member));
    const [first] = values;
    const isShared = values.every((value) => isSame(value, first)) && !isText(member, first);
    const keep = (value: unknown, language?: string): FileValue => {
      const image = isImage(member) ? images.get(value) : undefined;
      if (image) {
        const file = [base, language, member, image.extension].filter(Boolean).join('.');
        imageFiles.set(file, image.bytes);
        return { file };
      }
      const extension = extensionOf(member, value);
      if (!extension) return value as FileValue;
      const name = [base, language, member, extension].filter(Boolean).join('.');
      files.set(name, String(value));
      return { file: name };
    };
    if (isShared) put(common, member, keep(first));
    else
      languages.forEach((language, place) => {
        const value = values[place];
        if (value !== undefined) put(texts[language] as FileObject, member, keep(value, language));
      });
  }
  const value: FileObject = {};
  for (const name of head) if (isWritten(model[name])) value[name] = model[name] as FileValue;
  return {
    value: { ...value, defaultLanguage, ...(Object.keys(common).length > 0 && { common }), texts },
    texts: files,
    images: imageFiles,
  };
}

/** What is as it is without being said is not written. */
function isWritten(value: unknown): boolean {
  return value !== undefined && value !== false && !(Array.isArray(value) && value.length === 0);
}

/** The model of a file whose texts are in their places. Members with other types are left to the API. */
export function modelOfFile(value: FileObject): WantedModel {
  const { common = {}, texts = {}, ...rest } = value;
  const contents = Object.entries((texts ?? {}) as Record<string, FileObject | null>);
  const data = Object.fromEntries(
    contents.map(([language, own]) => [language, mergeContents(common as FileObject, own ?? {})]),
  );
  // biome-ignore lint/plugin: the API checks what a file says.
  return { ...rest, data } as unknown as WantedModel;
}

function mergeContents(common: FileObject, own: FileObject): FileObject {
  const merged: FileObject = { ...common };
  for (const [name, value] of Object.entries(own)) {
    const shared = merged[name];
    merged[name] = isPlain(shared) && isPlain(value) ? { ...shared, ...value } : value;
  }
  return merged;
}

const isPlain = (value: unknown): value is FileObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Values by member, such as `retention/label`. */
function leavesOf(content: Content): Map<string, unknown> {
  return new Map(
    Object.entries(content).flatMap(([name, value]): [string, unknown][] =>
      isPlain(value)
        ? Object.entries(value).map(([inner, each]) => [`${name}/${inner}`, each])
        : [[name, value]],
    ),
  );
}

function put(target: FileObject, member: string, value: FileValue): void {
  const [name = '', inner] = member.split('/');
  if (inner === undefined) target[name] = value;
  else target[name] = { ...(target[name] as FileObject | undefined), [inner]: value };
}

/**
 * Where a file says what a fault of the API is about.
 * @param pointer into the model. @returns the path in the file; the longest part of it that is there counts.
 */
export function placesOf(pointer: string): string[][] {
  const [, first = '', language = '', ...members] = pointer
    .split('/')
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
  if (first !== 'data') return [[first, language, ...members].filter((name) => name !== '')];
  const own = ['texts', language, ...members].filter((name) => name !== '');
  return members.length > 0 ? [own, ['common', ...members]] : [own];
}
