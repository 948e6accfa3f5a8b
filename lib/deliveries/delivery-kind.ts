import type { Queries } from '#lib/db/database.ts';
import type { Statement } from '#lib/db/sql.ts';
import type { Backoff } from './backoff.ts';

/** What the engine reads of every due delivery; a kind adds what its attempts need ({@link DeliveryTables.columns}). */
export interface DueRow {
  /** Unique among the deliveries of its kind. */
  id: string;
  /** Attempts that have failed so far. */
  attempts: number;
  /** Primary key of the target, as text. */
  targetKey: string;
  /** Consecutive failures of the target. */
  targetFailures: number;
  /** {@link DeliveryTables.generation} when the row was read. */
  generation: string;
}

/** Result of one attempt. `Facts` is what the kind records about it, for example a status code. */
export type AttemptResult<Facts> =
  /** The target accepted the delivery. */
  | { kind: 'done'; facts: Facts }
  /** The target will never accept this delivery; others may still succeed. */
  | { kind: 'refused'; facts: Facts }
  /** The target itself no longer exists. */
  | { kind: 'gone'; facts: Facts }
  /** Try again. `own`: the failure is ours and says nothing about the target. `waitMs` replaces the kind's back-off. */
  | { kind: 'retry'; facts: Facts; own?: boolean; waitMs?: number };

/** How a delivery goes on after an attempt: `expired` means that no attempt is left. */
export type Ending = 'done' | 'refused' | 'gone' | 'expired' | 'retry';

/** One attempt, as the kind records it. */
export interface Settlement<Row, Facts> {
  row: Row;
  ending: Ending;
  facts: Facts;
  /** Duration of the attempt. */
  ms: number;
  /** Until the next attempt; 0 unless the ending is `retry`. */
  waitMs: number;
}

/**
 * The tables that a kind keeps in its service's schema. Statements refer to a target as `t` and to a delivery as `d`.
 * A target needs the columns `lease_owner uuid`, `lease_until timestamptz`, `fence bigint`, `failures integer` and
 * `next_at timestamptz`; a delivery needs `not_before timestamptz`.
 */
export interface DeliveryTables {
  targets: Statement;
  /** Primary key of a target, and its SQL type. */
  targetKey: Statement;
  targetKeyType: Statement;
  /** Whether the target takes deliveries at all. */
  ready: Statement;
  /** Text that changes when earlier failures no longer count, for example the target's address. */
  generation: Statement;
  rows: Statement;
  rowKey: Statement;
  rowKeyType: Statement;
  /** The delivery's reference to its target. */
  rowTarget: Statement;
  /** Whether the delivery may be attempted now. */
  due: Statement;
  /** What an attempt needs of `t` and `d`; `id` and `attempts` are among it. */
  columns: Statement;
}

/** One kind of delivery, such as webhooks. The engine decides when; the kind knows what is sent and what is recorded. */
export interface DeliveryKind<Row extends DueRow, Facts> {
  /** Label in logs, and in metrics unless {@link labelOf} names another. */
  name: string;
  labelOf?: (row: Row) => string;
  tables: DeliveryTables;
  /** Back-off of one delivery. */
  backoff: Backoff;
  /**
   * Back-off of a target that failed, for all of its deliveries; absent: the others are tried at once, one at a time. A failure of our own
   * waits as after one failure.
   */
  targetBackoff?: (failures: number, random: number) => number;
  /** Called with rows that were read together, before they are attempted. */
  prepare?: (rows: readonly Row[]) => void;
  /**
   * Makes one attempt. What it throws counts as a failure of our own.
   * @param context.ageMs time since the row was read. @param context.signal aborts when the process stops.
   */
  attempt(row: Row, context: { ageMs: number; signal: AbortSignal }): Promise<AttemptResult<Facts>>;
  /** Facts for an attempt that threw. */
  describeError(error: unknown): Facts;
  /** Records attempts, with the owner's state and outbox rows, in the engine's transaction; the targets are locked. */
  settle(tx: Queries, settlements: readonly Settlement<Row, Facts>[]): Promise<void>;
  /** Called after the COMMIT, for example to wake the outbox relay. */
  afterSettle?: () => void;
}
