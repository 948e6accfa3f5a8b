import type { ModelType, VersionKind } from './model.ts';

const keyPattern = /^[0-9A-Za-z_.-]{2,255}$/;
/** Names with a special meaning in paths or in objects. */
const reserved = new Set(['__proto__', 'constructor', 'prototype']);

/**
 * Whether a text is a valid key of a model (docs/interface.md, "Terms"). Keys also occur in paths and as JSON
 * members.
 */
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

/** Parses an identifier; undefined if the text is not valid. */
export function parseIdentifier(text: string): Identifier | undefined {
  const [prefix, type, key, serial, ...rest] = text.split('/');
  if (prefix !== 'element' || !type || !key || !serial || rest.length > 0) return undefined;
  return { type, key, serial };
}

/**
 * Removes the prefix `bloc/<any>/` that clients of the next generation write; the meaning is the same
 * (docs/interface.md).
 */
export function withoutBlocPrefix(name: string): string {
  if (!name.startsWith('bloc/')) return name;
  const end = name.indexOf('/', 'bloc/'.length);
  return end < 0 ? name : name.slice(end + 1);
}

/**
 * A reference in a layout: a key of this instance, or a peer's as `<key>@<host[:port]>` (docs/interface.md,
 * "Terms").
 */
export interface ElementReference {
  key: string;
  /** The host in the peer's URL; null for this instance. */
  host: string | null;
}

const bareHost = /^[^\s/?#@\\]+$/;

/** Parses a reference; undefined if the text is not valid. */
export function parseReference(text: string): ElementReference | undefined {
  const at = text.indexOf('@');
  const key = at < 0 ? text : text.slice(0, at);
  if (!isModelKey(key)) return undefined;
  if (at < 0) return { key, host: null };
  const host = text.slice(at + 1);
  const url = bareHost.test(host) ? URL.parse(`https://${host}`) : null;
  return url?.pathname === '/' ? { key, host: url.host } : undefined;
}

/** `<key>@<host>`; for an own element only the key. */
export function formatReference({ key, host }: ElementReference): string {
  return host === null ? key : `${key}@${host}`;
}

/** Normalises a reference (`k@Lab.EXAMPLE:443` → `k@lab.example`). Other texts are returned unchanged. */
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

/** `1.0` → `{major: 1, minor: 0}`; undefined if the text is not a serial. */
export function parseSerial(text: string): Serial | undefined {
  const match = serialPattern.exec(text);
  return match ? { major: Number(match[1]), minor: Number(match[2]) } : undefined;
}

/**
 * The serial that an activation assigns. It follows the highest serial ever assigned, so that none is used
 * twice. The first one is always a MAJOR.
 * @param last the highest serial so far; major 0 if there is none.
 */
export function nextSerial(last: Serial, kind: VersionKind): Serial {
  if (last.major === 0 || kind === 'MAJOR') return { major: last.major + 1, minor: 0 };
  return { major: last.major, minor: last.minor + 1 };
}

/** Whether a serial is lower than another serial of the same entry; false if that one is unknown. */
export function isBefore(one: Serial, other: Serial | undefined): boolean {
  if (!other) return false;
  return one.major < other.major || (one.major === other.major && one.minor < other.minor);
}
