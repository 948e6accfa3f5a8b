/** Versions of entries, as forms tells them to other services. No runtime code. */

/** The ACTIVE version of an entry; null if there is none. `deleted`: the entry is DELETED. */
export interface ActiveVersion {
  major: number | null;
  serial: string | null;
  deleted: boolean;
}

/** ACTIVE versions by key, those of peers by `<key>@<host[:port]>`. Unknown keys are absent. */
export type ActiveVersions = Record<string, ActiveVersion>;

/** An entry as it was at a time. */
export interface VersionAt {
  type: string;
  /** The major of the version that was ACTIVE; null without one. */
  major: number | null;
  /** The base URL of the peer that owns the entry; null for an own one. */
  owner: string | null;
  /** Whether it is a processing to which people may object. */
  isObjection: boolean;
}

/** Entries at a time, which decisions are taken by (docs/decisions-api.md). */
export interface VersionsAt {
  /** By key as it was asked for, and those of `purposes`. Unknown keys are absent. */
  versions: Record<string, VersionAt>;
  /** By purpose: keys of the own processings that were ACTIVE and had it. */
  purposes: Record<string, string[]>;
}
