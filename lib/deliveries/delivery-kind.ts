import type { Queries } from '#lib/db/database.ts';
import type { Statement } from '#lib/db/sql.ts';
import type { SpanFields } from '#lib/observability/tracing.ts';
import type { Backoff } from './backoff.ts';

/**
 * Columns of every due delivery. A kind adds those that its attempts need ({@link DeliveryTables.columns}).
 */
export interface DueRow {
  /** Unique among the deliveries of its table. */
  id: string;
  /** Number of attempts so far. */
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
  /** Nothing is left to send; the target was not contacted. */
  | { kind: 'obsolete'; facts: Facts }
  /**
   * The target will never accept this delivery; other deliveries to it may still succeed.
   * @param own we decided it; the delivery itself was not sent.
   */
  | { kind: 'refused'; facts: Facts; own?: boolean }
  /** The target itself no longer exists. */
  | { kind: 'gone'; facts: Facts }
  /**
   * Retry. @param own the failure is ours: it delays the deliveries to the target by the kind's
   * `targetBackoff`, if any, but is not counted as its failure. @param waitMs replaces the kind's back-off;
   * the attempt does not count as a failure.
   * @param thrown what the attempt threw.
   */
  | { kind: 'retry'; facts: Facts; own?: boolean; waitMs?: number; thrown?: unknown };

/** State of a delivery after an attempt; `expired`: it failed, and there is no further attempt. */
export type Ending = 'done' | 'obsolete' | 'refused' | 'gone' | 'expired' | 'retry';

/** An attempt to be recorded. */
export interface Settlement<Row, Facts> {
  row: Row;
  ending: Ending;
  facts: Facts;
  /** Whether the attempt threw. The engine logs what it threw, and the kind does not. */
  hasThrown: boolean;
  /** Duration of the attempt. */
  ms: number;
  /** Wait before the next attempt; 0 unless the ending is `retry`. */
  waitMs: number;
  /** Of the attempt's span, for events that it causes; undefined without tracing. */
  traceparent?: string | undefined;
}

/**
 * Tables of a kind in its service's schema, and SQL expressions on them. Statements call a target `t` and a
 * delivery `d`. A target needs the columns `lease_owner uuid`, `lease_until timestamptz`, `fence bigint`,
 * `failures integer` and `next_at timestamptz`; a delivery needs `not_before timestamptz`.
 */
export interface DeliveryTables {
  targets: Statement;
  /** Primary key of a target, and its SQL type. */
  targetKey: Statement;
  targetKeyType: Statement;
  /** Whether the target accepts deliveries. */
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
  /** Columns of a row: `id`, `attempts`, and those that the attempts of this kind need. */
  columns: Statement;
}

/** A kind of delivery, such as webhooks. The engine decides when to attempt; the kind sends and records. */
export interface DeliveryKind<Row extends DueRow, Facts> {
  /** Label in logs, and in metrics unless {@link labelOf} names another. */
  name: string;
  labelOf?: (row: Row) => string;
  /** The trace that a row's attempts continue, and fields of their spans. Absent: each begins a trace. */
  traceOf?: (row: Row) => { parent: string | undefined; fields: SpanFields };
  tables: DeliveryTables;
  /** Back-off of one delivery. */
  backoff: (attempts: number, random: number, row: Row) => ReturnType<Backoff>;
  /**
   * Back-off of a failing target for all its deliveries, by its consecutive failures. After a failure on our
   * side the target waits as long as after its first failure. Absent or 0: the target's other deliveries are
   * attempted without a wait, one after the other.
   */
  targetBackoff?: (failures: number, random: number, facts: Facts) => number;
  /** Called with the rows of one read, before they are attempted. */
  prepare?: (rows: readonly Row[]) => void;
  /**
   * Makes one attempt. An exception is logged by the engine and counts as a failure of our own.
   * @param context.ageMs time since the row was read. @param context.signal aborts when the process stops.
   */
  attempt(row: Row, context: { ageMs: number; signal: AbortSignal }): Promise<AttemptResult<Facts>>;
  /** Facts for an attempt that threw. */
  describeError(error: unknown): Facts;
  /** Records attempts and their effects in the engine's transaction, which has locked the targets. */
  settle(tx: Queries, settlements: readonly Settlement<Row, Facts>[]): Promise<void>;
  /** Called after the COMMIT, for example to wake the outbox relay. */
  afterSettle?: () => void;
}
