import type { QueryResultRow } from 'pg';

/** Changes statements on their way to PostgreSQL. */
export interface Rewrite {
  /**
   * What a statement must contain. A fragment that is filled in may also be `$1`, as planted.test.ts reads
   * the source.
   */
  find: RegExp;
  replace: string | (() => string);
  /** Called with the rows of a changed statement. */
  onRows?(rows: readonly QueryResultRow[]): void;
}

/** Replaces what a module exports. */
export interface Exchange {
  /** Path in the repository. */
  file: string;
  name: string;
  // biome-ignore lint/suspicious/noExplicitAny: the export may be anything.
  exchange(original: any): unknown;
}

/** A bug that is planted on purpose, and must be caught. */
export interface Bug {
  /** What is wrong. */
  what: string;
  /** Default: one process. */
  world?: 'distributed' | 'peers';
  /** Names of the faults that strike, one after the other. */
  faults: readonly string[];
  /** How many requests are answered between two faults. */
  between?: readonly [least: number, most: number];
  /**
   * What the checker must find, among other things. Absent if a test outside the chaos runs catches the bug.
   */
  caught?: RegExp;
  statements?: readonly Rewrite[];
  exports?: readonly Exchange[];
  /** Changes pg itself. */
  changePg?(): void;
}
