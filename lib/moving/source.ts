import type { InstanceClient } from '#lib/moving/instance-client.ts';

/** A row of an import (docs/moving.md, "What is taken over"), or why there is none, with its place. */
export type SourceItem = {
  place: string;
  /** As the file has it, for the file of rejected rows. */
  original?: Original;
} & ({ row: Readonly<Record<string, unknown>> } | SourceFault);

interface SourceFault {
  fault: string;
  /** False: an earlier fault has said it. */
  isTold?: boolean;
}

/** A line of a file, as it is written. */
export interface Original {
  /** Several rows may come from one line. */
  line: number;
  /** Bytes: they are not UTF-8. */
  text: string | Buffer;
}

/** What an import reads: keys that verify its receipts, and rows, which are read as they are needed. */
export interface ImportSource {
  /** The first line of each request; undefined without receipts. */
  keys: object | undefined;
  items: AsyncIterable<SourceItem>;
  /** The head of a file of rejected lines, for a table; undefined: rejected rows are NDJSON. */
  rejectedHead?: () => string;
  /** Done before the rows are read: what they need at the instance that takes them over. */
  prepare?: (target: InstanceClient) => Promise<void>;
  /** Done when all rows were taken over. */
  finish?: (target: InstanceClient) => Promise<void>;
  /** Whether a dry run counts a row as created, because what it needs would be made before. */
  isPrepared?: (row: Readonly<Record<string, unknown>>) => boolean;
  /** What the source has and no row takes, by name. */
  closed?: readonly string[];
}
