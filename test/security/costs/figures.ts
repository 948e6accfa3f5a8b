import { appendFileSync } from 'node:fs';
import type { Spent } from '../hostile-texts/process-under-test.ts';

/** What a request cost the process that answered it. */
export interface Figure extends Spent {
  /** Operation or page: method and path, or the id of an operation. */
  request: string;
  /** What was sent to it, and by whom. */
  input: string;
  status: number;
}

/** Notes a figure for `npm run bench -- costs`, which makes a table of all. */
export function noteFigure(figure: Figure): void {
  const file = process.env.COSTS_REPORT;
  if (file) appendFileSync(file, `${JSON.stringify(figure)}\n`);
}
