import { Counter, Gauge, type Registry } from 'prom-client';

/** Queries that read gauges from a service's tables when metrics are scraped. */
export interface TableReaders {
  service: string;
  /** Rows of the outbox, and the age of the oldest in seconds (0 if empty). */
  outbox?: () => Promise<{ rows: number; oldestSeconds: number }>;
  /** Dead letters, by topic. */
  deadLetters?: () => Promise<readonly { topic: string; count: number }[]>;
  /**
   * Pending deliveries, and the longest time for which one has been due, in seconds. `unfinishedSeconds`: the
   * time since the oldest message was created, also while it waits for its next attempt.
   */
  deliveries?: () => Promise<
    readonly { kind: string; rows: number; oldestSeconds: number; unfinishedSeconds?: number }[]
  >;
  /** Backlog per peer, by its id; only the peers with the largest backlogs. */
  backlogs?: () => Promise<
    readonly { peer: string; rows: number; oldestSeconds: number; failures: number }[]
  >;
  /** By peer id: how far its clock was ahead of ours at its last message to this process. */
  clocks?: () => Promise<readonly { peer: string; seconds: number }[]>;
  /** Backlog per webhook, by its id; only the webhooks whose oldest delivery has waited longest. */
  webhookBacklogs?: () => Promise<readonly { webhook: string; rows: number; oldestSeconds: number }[]>;
  /** Parts held until peers decide, and the age of the oldest in seconds (0 if none). */
  held?: () => Promise<{ rows: number; oldestSeconds: number }>;
  /** Notices of withdrawals and erasures that were not acknowledged in time. */
  overdueNotices?: () => Promise<number>;
  /** Logs of which witnesses know two histories. */
  disputes?: () => Promise<number>;
}

export interface TableMetrics {
  watch(readers: TableReaders): void;
  /** Reads all; figures that cannot be read are left out. */
  collect(): Promise<void>;
}

/**
 * Gauges read when scraped, so that what was deleted is no longer reported. All but the clocks come from
 * PostgreSQL, so that every replica reports the same.
 */
export function createTableMetrics(registers: Registry[]): TableMetrics {
  const watched: TableReaders[] = [];
  const gauge = (name: string, help: string, ...labelNames: string[]) =>
    new Gauge({ name, help, labelNames: ['service', ...labelNames], registers });
  const depth = gauge('accord_outbox_rows', 'Events waiting to be published (counted up to 100,000).');
  const age = gauge('accord_outbox_age_seconds', 'Age of the oldest event waiting to be published.');
  const dead = gauge('accord_dead_letters', 'Dead letters that nobody has handled yet.', 'topic');
  const due = gauge(
    'accord_deliveries_waiting',
    'Pending deliveries to active webhooks, paired peers and subjects.',
    'kind',
  );
  const dueAge = gauge(
    'accord_deliveries_age_seconds',
    'Longest time for which a pending delivery has been due.',
    'kind',
  );
  const unfinishedAge = gauge(
    'accord_messages_age_seconds',
    'Time since the creation of the oldest pending message.',
    'kind',
  );
  const backlog = gauge(
    'accord_peer_backlog',
    'Parts, decisions, withdrawals and erasures that wait for a peer.',
    'peer',
  );
  const backlogAge = gauge(
    'accord_peer_backlog_age_seconds',
    'Age of the oldest part, decision, withdrawal or erasure that waits for a peer.',
    'peer',
  );
  const failing = gauge('accord_peer_failures', 'Consecutive failed attempts to a peer.', 'peer');
  const clock = gauge(
    'accord_peer_clock_skew_seconds',
    'How far the clock of a peer was ahead of ours at its last message.',
    'peer',
  );
  const queued = gauge('accord_webhook_backlog', 'Deliveries that wait for a webhook.', 'webhook');
  const queuedAge = gauge(
    'accord_webhook_backlog_age_seconds',
    'Age of the oldest delivery that waits for a webhook.',
    'webhook',
  );
  const held = gauge(
    'accord_submissions_held',
    'Parts waiting for the decision of a peer (counted up to 100,000).',
  );
  const heldAge = gauge(
    'accord_submissions_held_age_seconds',
    'Age of the oldest part waiting for a decision.',
  );
  const overdue = gauge(
    'accord_notices_overdue',
    'Withdrawals and erasures that organisations or peers have not acknowledged in time (counted up to 100,000).',
  );
  const disputed = gauge('accord_witness_disputes', 'Audit logs of which two histories are known.');
  const unread = new Counter({
    name: 'accord_metrics_unread_total',
    help: 'Figures that could not be read because the database did not answer.',
    labelNames: ['service'],
    registers,
  });

  async function readOne(readers: TableReaders): Promise<void> {
    const { service } = readers;
    const [waiting, parked, made, peers, clocks, webhooks, undecided, late, disputes] = await Promise.all([
      readers.outbox?.(),
      readers.deadLetters?.(),
      readers.deliveries?.(),
      readers.backlogs?.(),
      readers.clocks?.(),
      readers.webhookBacklogs?.(),
      readers.held?.(),
      readers.overdueNotices?.(),
      readers.disputes?.(),
    ]);
    if (late !== undefined) overdue.set({ service }, late);
    if (disputes !== undefined) disputed.set({ service }, disputes);
    if (waiting) {
      depth.set({ service }, waiting.rows);
      age.set({ service }, waiting.oldestSeconds);
    }
    for (const { topic, count } of parked ?? []) dead.set({ service, topic }, count);
    for (const { kind, rows, oldestSeconds, unfinishedSeconds } of made ?? []) {
      due.set({ service, kind }, rows);
      dueAge.set({ service, kind }, oldestSeconds);
      if (unfinishedSeconds !== undefined) unfinishedAge.set({ service, kind }, unfinishedSeconds);
    }
    for (const { peer, rows, oldestSeconds, failures } of peers ?? []) {
      backlog.set({ service, peer }, rows);
      backlogAge.set({ service, peer }, oldestSeconds);
      failing.set({ service, peer }, failures);
    }
    for (const { peer, seconds } of clocks ?? []) clock.set({ service, peer }, seconds);
    for (const { webhook, rows, oldestSeconds } of webhooks ?? []) {
      queued.set({ service, webhook }, rows);
      queuedAge.set({ service, webhook }, oldestSeconds);
    }
    if (undecided) {
      held.set({ service }, undecided.rows);
      heldAge.set({ service }, undecided.oldestSeconds);
    }
  }

  return {
    watch: (readers) => void watched.push(readers),
    async collect() {
      for (const each of [
        depth,
        age,
        dead,
        due,
        dueAge,
        unfinishedAge,
        backlog,
        backlogAge,
        failing,
        clock,
        queued,
        queuedAge,
        held,
        heldAge,
        overdue,
        disputed,
      ])
        each.reset();
      await Promise.all(
        watched.map((readers) => readOne(readers).catch(() => unread.inc({ service: readers.service }))),
      );
    },
  };
}
