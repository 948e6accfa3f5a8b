import { createWriteStream } from 'node:fs';

/** Answers by the element's key. */
export type Answers = Record<string, string>;

/**
 * What a client was told about one request: `unknown` if no reply came, `wrong` if it was one that nobody may
 * be given.
 */
export type Told = 'acknowledged' | 'refused' | 'unknown' | 'wrong';

/** One line of a client's own history. A request that is sent again keeps its number. */
export type Line = { request: number; told: Told /** What was wrong. */; why?: string } & Deed;

/** What a request is to do. `id` is known when it is done, or before. */
export type Deed =
  | { kind: 'create'; subject: string; isNotified?: boolean; id?: string }
  /** A look at the form: it is only there if it was wrong. */
  | { kind: 'form'; id: string }
  | { kind: 'submit'; id: string; answers: Answers }
  /** Answers that are in force only with a code, which `confirm` sends. */
  | { kind: 'submit for a code'; id: string }
  /** A wrong code. */
  | { kind: 'guess'; id: string }
  | { kind: 'confirm'; id: string; answers: Answers }
  | { kind: 'cancel'; id: string }
  | { kind: 'child'; parent: string; subject: string; id?: string }
  | { kind: 'single step'; subject: string; answers: Answers; id?: string };

/** What clients were told, in the order in which they were told. */
export type History = readonly Line[];

/** A history that is being written. */
export interface HistoryWriter<Written = Line> {
  lines: readonly Written[];
  add(line: Written): void;
  /** Resolves when all of it is in the file. */
  close(): Promise<void>;
}

/** @param file where it is kept as JSON lines, for whoever looks into a breach later. */
export function createHistory<Written = Line>(file?: string): HistoryWriter<Written> {
  const lines: Written[] = [];
  const stream = file === undefined ? undefined : createWriteStream(file);
  return {
    lines,
    add(line) {
      lines.push(line);
      stream?.write(`${JSON.stringify({ at: new Date().toISOString(), ...line })}\n`);
    },
    close: () => new Promise((done) => (stream ? stream.end(done) : done())),
  };
}
