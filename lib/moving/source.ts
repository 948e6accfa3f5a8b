/** A row of an import (docs/moving.md, "What is taken over"), or why there is none, with its place. */
export type SourceItem = { place: string } & ({ row: Readonly<Record<string, unknown>> } | { fault: string });

/** What an import reads: keys that verify its receipts, and rows, which are read as they are needed. */
export interface ImportSource {
  /** The first line of each request; undefined without receipts. */
  keys: object | undefined;
  items: AsyncIterable<SourceItem>;
}
