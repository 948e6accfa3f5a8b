import { Counter, Gauge, type Registry } from 'prom-client';

/** What a service's tables say when somebody asks. */
export interface TableReaders {
  service: string;
  /** Rows of the outbox, and the age of the oldest in seconds (0 without any). */
  outbox?: () => Promise<{ rows: number; oldestSeconds: number }>;
  /** Events put aside, by topic. */
  deadLetters?: () => Promise<readonly { topic: string; count: number }[]>;
  /** Deliveries that are still to be made, and the age of the oldest that is due in seconds. */
  deliveries?: () => Promise<readonly { kind: string; rows: number; oldestSeconds: number }[]>;
  /** What waits for each peer, by its id: not more of them than somebody can look at. */
  backlogs?: () => Promise<
    readonly { peer: string; rows: number; oldestSeconds: number; failures: number }[]
  >;
  /** Parts of answers that wait for the decisions of peers, and the age of the oldest in seconds (0 without any). */
  held?: () => Promise<{ rows: number; oldestSeconds: number }>;
}

export interface TableMetrics {
  watch(readers: TableReaders): void;
  /** Reads them all; what cannot be read is left out. */
  collect(): Promise<void>;
}

/** Figures that PostgreSQL has: read when they are asked for, so every replica tells the same. */
export function createTableMetrics(registers: Registry[]): TableMetrics {
  const watched: TableReaders[] = [];
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name, help, labelNames: ['service', ...labelNames], registers });
  const depth = gauge('accord_outbox_rows', 'Events that wait to be sent (counted up to 100,000).');
  const age = gauge('accord_outbox_age_seconds', 'How long the oldest event has waited to be sent.');
  const dead = gauge('accord_dead_letters', 'Events put aside that nobody has looked after yet.', 'topic');
  const due = gauge(
    'accord_deliveries_waiting',
    'Deliveries to the outside that are still to be made.',
    'kind',
  );
  const dueAge = gauge(
    'accord_deliveries_age_seconds',
    'How long the oldest delivery that is due has waited.',
    'kind',
  );
  const backlog = gauge(
    'accord_peer_backlog',
    'Parts of answers and decisions that wait for a peer.',
    'peer',
  );
  const backlogAge = gauge(
    'accord_peer_backlog_age_seconds',
    'How long the oldest part or decision has waited for a peer.',
    'peer',
  );
  const failing = gauge('accord_peer_failures', 'Attempts in vain since a peer last answered.', 'peer');
  const held = gauge(
    'accord_submissions_held',
    'Parts of answers that wait for the decision of a peer (counted up to 100,000).',
  );
  const heldAge = gauge('accord_submissions_held_age_seconds', 'How long the oldest of them has waited.');
  const unread = new Counter({
    name: 'accord_metrics_unread_total',
    help: 'Figures that could not be read, because the database did not answer.',
    labelNames: ['service'],
    registers,
  });

  async function readOne(readers: TableReaders): Promise<void> {
    const { service } = readers;
    const [waiting, parked, made, peers, undecided] = await Promise.all([
      readers.outbox?.(),
      readers.deadLetters?.(),
      readers.deliveries?.(),
      readers.backlogs?.(),
      readers.held?.(),
    ]);
    if (waiting) {
      depth.set({ service }, waiting.rows);
      age.set({ service }, waiting.oldestSeconds);
    }
    for (const { topic, count } of parked ?? []) dead.set({ service, topic }, count);
    for (const { kind, rows, oldestSeconds } of made ?? []) {
      due.set({ service, kind }, rows);
      dueAge.set({ service, kind }, oldestSeconds);
    }
    for (const { peer, rows, oldestSeconds, failures } of peers ?? []) {
      backlog.set({ service, peer }, rows);
      backlogAge.set({ service, peer }, oldestSeconds);
      failing.set({ service, peer }, failures);
    }
    if (undecided) {
      held.set({ service }, undecided.rows);
      heldAge.set({ service }, undecided.oldestSeconds);
    }
  }

  return {
    watch: (readers) => void watched.push(readers),
    async collect() {
      for (const each of [depth, age, dead, due, dueAge, backlog, backlogAge, failing, held, heldAge])
        each.reset();
      await Promise.all(
        watched.map((readers) => readOne(readers).catch(() => unread.inc({ service: readers.service }))),
      );
    },
  };
}
