import type { VersionKind } from './model.ts';

/** A version's number within its entry (docs/interface.md, "Terms"). */
export interface Serial {
  major: number;
  minor: number;
}

/** `{major: 1, minor: 0}` → `1.0` */
export function formatSerial({ major, minor }: Serial): string {
  return `${major}.${minor}`;
}

const pattern = /^([1-9]\d{0,8})\.(0|[1-9]\d{0,8})$/;

/** `1.0` → `{major: 1, minor: 0}`; undefined for anything that is no serial. */
export function parseSerial(text: string): Serial | undefined {
  const match = pattern.exec(text);
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
