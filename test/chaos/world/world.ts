import type { Evidence } from '../check/evidence.ts';
import type { Fault } from '../faults/fault.ts';
import type { Random } from '../random.ts';

/** An instance of Accord and all that it stands on, each part of which can be broken. */
export interface World {
  baseUrl: string;
  /** Of an API key. */
  headers: Record<string, string>;
  /** Everything that can happen to it. */
  faults: readonly Fault[];
  /** How many replies of PostgreSQL were swallowed until now. */
  lostReplies(): number;
  /** Waits until all that was written has been sent, and reads what the checker needs. */
  gather(): Promise<Omit<Evidence, 'history'>>;
  stop(): Promise<void>;
}

/** What a world is made with. */
export interface WorldOptions {
  random: Random;
  /** A bug to plant in every process (test/chaos/planted). */
  bug?: string | undefined;
  /** How long events may take in the end, until they count as never sent. */
  patienceMs?: number;
  /** Where what processes say is kept. */
  logFolder?: string;
}
