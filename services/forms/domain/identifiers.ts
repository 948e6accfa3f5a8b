import type { ModelType, VersionKind } from './model.ts';

const keyPattern = /^[0-9A-Za-z_.-]{2,255}$/;
/** Names that mean something else to a path or to an object. */
const reserved = new Set(['__proto__', 'constructor', 'prototype']);

/** Whether a text may be a model's key (docs/interface.md, "Terms"): it also stands in paths and in JSON objects. */
export function isModelKey(key: string): boolean {
  return keyPattern.test(key) && !reserved.has(key) && !/^\.+$/.test(key);
}

/** Whether a text has the shape of an entry's id. */
export function isEntryId(text: string): boolean {
  return /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text);
}

/** The key that an entry gets when none is given: `processing`, 7 → `processing.007`. */
export function defaultKey(type: ModelType, number: number): string {
  return `${type}.${String(number).padStart(3, '0')}`;
}

/** The parts of `element/<type>/<key>/<serial>` (docs/interface.md, "Terms"). */
export interface Identifier {
  type: string;
  key: string;
  serial: string;
}

export function formatIdentifier(type: string, key: string, serial: string): string {
  return `element/${type}/${key}/${serial}`;
}

/** Undefined for a text that is no identifier. */
export function parseIdentifier(text: string): Identifier | undefined {
  const [prefix, type, key, serial, ...rest] = text.split('/');
  if (prefix !== 'element' || !type || !key || !serial || rest.length > 0) return undefined;
  return { type, key, serial };
}

/** Clients of a later generation write `bloc/<any>/` before an identifier; it means the same (docs/interface.md). */
export function withoutBlocPrefix(name: string): string {
  if (!name.startsWith('bloc/')) return name;
  const end = name.indexOf('/', 'bloc/'.length);
  return end < 0 ? name : name.slice(end + 1);
}

/** What a layout names: a key of this instance, or a peer's as `<key>@<host[:port]>` (docs/interface.md, "Terms"). */
export interface ElementReference {
  key: string;
  /** As in the peer's URL; null: this instance. */
  host: string | null;
}

const bareHost = /^[^\s/?#@\\]+$/;

/** Undefined for a text that names nothing. */
export function parseReference(text: string): ElementReference | undefined {
  const at = text.indexOf('@');
  const key = at < 0 ? text : text.slice(0, at);
  if (!isModelKey(key)) return undefined;
  if (at < 0) return { key, host: null };
  const host = text.slice(at + 1);
  const url = bareHost.test(host) ? URL.parse(`https://${host}`) : null;
  return url?.pathname === '/' ? { key, host: url.host } : undefined;
}

/** `<key>@<host>`, or the key alone. */
export function formatReference({ key, host }: ElementReference): string {
  return host === null ? key : `${key}@${host}`;
}

/** A reference in the one way of writing it (`k@Lab.EXAMPLE:443` → `k@lab.example`); other texts stay as they are. */
export function canonicalReference(text: string): string {
  const reference = parseReference(text);
  return reference ? formatReference(reference) : text;
}

/** A version's number within its entry (docs/interface.md, "Terms"). */
export interface Serial {
  major: number;
  minor: number;
}

/** `{major: 1, minor: 0}` → `1.0` */
export function formatSerial({ major, minor }: Serial): string {
  return `${major}.${minor}`;
}

const serialPattern = /^([1-9]\d{0,8})\.(0|[1-9]\d{0,8})$/;

/** `1.0` → `{major: 1, minor: 0}`; undefined for anything that is no serial. */
export function parseSerial(text: string): Serial | undefined {
  const match = serialPattern.exec(text);
  return match ? { major: Number(match[1]), minor: Number(match[2]) } : undefined;
}

/**
 * The serial that an activation gives: counted from the highest ever given, so that none is given twice.
 * @param last the highest serial given so far; major 0: none yet. The first one is a MAJOR whatever the draft says.
 */
export function nextSerial(last: Serial, kind: VersionKind): Serial {
  if (last.major === 0 || kind === 'MAJOR') return { major: last.major + 1, minor: 0 };
  return { major: last.major, minor: last.minor + 1 };
}

/** Whether a version came before another one of its entry. */
export function isBefore(one: Serial, other: Serial | undefined): boolean {
  if (!other) return false;
  return one.major < other.major || (one.major === other.major && one.minor < other.minor);
}
