import { createHash } from 'node:crypto';
import {
  canonicalText,
  EvidenceFault,
  type ReadObject,
  requireCanonical,
  requireMembers,
} from '#lib/evidence/ndjson.ts';
import { modelTypes } from '#lib/evidence/signed-page.ts';

/** Texts as a receipt states them. */
export interface StatedTexts {
  /** `element/<type>/<key>/<serial>` */
  identifier: string;
  lang: string;
  sha256: string;
  texts: unknown;
}

/** The models of a folder. */
export interface FolderModels {
  /** Number of versions. */
  versions: number;
  /**
   * The SHA-256 of the texts of a version in a language, hexadecimal; undefined if the folder lacks them.
   */
  digestOf(identifier: string, language: string): string | undefined;
}

export const modelsName = 'models.ndjson';

/**
 * Reads the models of a folder: the digests of their texts, about 150 bytes of memory for each.
 * @throws EvidenceFault for another form or order than that of an export.
 */
export async function readFolderModels(lines: AsyncIterable<ReadObject>): Promise<FolderModels> {
  const digests = new Map<string, string>();
  let versions = 0;
  let last = '';
  for await (const read of lines) {
    const { value, place } = read;
    const isDescribed = Object.hasOwn(value, 'description');
    requireMembers(read, ['default', ...(isDescribed ? ['description'] : []), ...ofModel]);
    const { key, type, name: title, description = '', default: isDefault } = value;
    if (![title, description].every(isText) || typeof isDefault !== 'boolean')
      throw new EvidenceFault(`${place}: the model is not written as an export writes it.`);
    const rank = modelTypes.indexOf(type as (typeof modelTypes)[number]);
    const name = `${rank} ${key}`;
    if (typeof key !== 'string' || rank < 0 || name <= last)
      throw new EvidenceFault(`${place}: the models are not in the order of their types and keys.`);
    last = name;
    for (const version of readVersions(read)) {
      versions += 1;
      for (const [language, texts] of Object.entries(version.data))
        digests.set(
          nameOf(`element/${type}/${key}/${version.serial}`, language),
          digest(canonicalText(texts, place)),
        );
    }
    requireCanonical(read);
  }
  return { versions, digestOf: (identifier, language) => digests.get(nameOf(identifier, language)) };
}

const ofModel = ['key', 'name', 'type', 'versions'];
const ofVersion = ['data', 'defaultLanguage', 'serial', 'status'];

/** The versions of a model, the first one first. */
function readVersions({ value, place }: ReadObject): { serial: string; data: object }[] {
  const { versions } = value;
  if (!Array.isArray(versions)) throw new EvidenceFault(`${place}: a model without versions.`);
  let last = 0;
  return versions.map((version: unknown) => {
    const read = isObject(version) ? version : {};
    const isReasoned = Object.hasOwn(read, 'reason');
    requireMembers({ value: read, text: '', place }, [...(isReasoned ? ['reason'] : []), ...ofVersion]);
    const { serial, data, status, defaultLanguage, reason = '' } = read;
    const isWellFormed =
      (status === 'ACTIVE' || status === 'ARCHIVED') &&
      isText(reason) &&
      isObject(data) &&
      Object.values(data).every(isObject) &&
      Object.hasOwn(data, String(defaultLanguage)) &&
      isText(defaultLanguage);
    if (!isWellFormed) throw new EvidenceFault(`${place}: a version is not written as an export writes it.`);
    const [, major, minor] = /^(\d{1,9})\.(\d{1,9})$/.exec(String(serial)) ?? [];
    const order = Number(major) * 1e9 + Number(minor);
    if (typeof serial !== 'string' || !(order > last))
      throw new EvidenceFault(`${place}: the versions are not in the order of their serials.`);
    last = order;
    return { serial, data };
  });
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function nameOf(identifier: string, language: string): string {
  return JSON.stringify([identifier, language]);
}

function digest(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/**
 * Compares texts of a receipt with their digest, and with the models of the folder.
 * @param models undefined: the receipt is of another instance. @param isNeeded whether the models must have
 * them: what was answered is never removed.
 * @throws EvidenceFault.
 */
export function verifyTexts(
  { identifier, lang, sha256, texts }: StatedTexts,
  { place, models, isNeeded }: { place: string; models: FolderModels | undefined; isNeeded: boolean },
): void {
  if (digest(canonicalText(texts ?? null, place)) !== sha256)
    throw new EvidenceFault(`${place}: the texts of ${identifier} are not those of their SHA-256.`);
  if (!models) return;
  const known = models.digestOf(identifier, lang);
  if (known === undefined && isNeeded)
    throw new EvidenceFault(`${place}: ${modelsName} lacks ${identifier} in ${lang}.`);
  if (known !== undefined && known !== sha256)
    throw new EvidenceFault(
      `${modelsName}: ${identifier} in ${lang} has not the texts of the receipt (${place}).`,
    );
}
