import type { JWK } from 'jose';
import type { TransactionsOperations } from '#lib/contracts/transactions.ts';
import type { Database } from '#lib/db/database.ts';
import type { EventBus } from '#lib/events/event-bus.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { Metrics } from '#lib/observability/metrics.ts';
import { createOutboundClient } from '#lib/outbound/outbound-client.ts';
import { createAsk } from './client/ask.ts';
import { createPeerClient } from './client/peer-client.ts';
import type { ClockWatch } from './client/watch-clocks.ts';
import { queueDeliveries } from './consumers/queue-deliveries.ts';
import { createPeerDeliveryJob } from './jobs/deliver.ts';
import { createOverdueSweeper } from './jobs/end-overdue.ts';

interface Options {
  db: Database;
  bus: EventBus;
  log: Logger;
  transactions: Pick<TransactionsOperations, 'readSubmissions' | 'decideSubmission'>;
  baseUrl: string;
  signingKey: JWK & { kid: string };
  /** Private networks where peers may be. */
  allowedNetworks: readonly string[];
  clocks: ClockWatch;
  ownKids: ReadonlySet<string>;
  lookAgain: (url: string) => Promise<boolean>;
  wakeRelay: () => void;
  metrics?: Metrics | undefined;
}

/** Requests under way: the job bounds them by peer, and a place at one host is not to be waited for behind another peer there. */
const outboundLimits = { perHost: 64, inAll: 64 };

/** What brings things to peers, with a client of its own: whoever reads catalogues waits for nobody here. */
export interface Deliveries {
  /** Ends what is over; tests say when. */
  endOverdue(): Promise<void>;
  start(): void;
  stop(): Promise<void>;
}

export function composeDeliveries(options: Options): Deliveries {
  const { db, bus, log, baseUrl, signingKey, ownKids, allowedNetworks, clocks } = options;
  const outbound = createOutboundClient({ allowedNetworks, limits: outboundLimits });
  const client = createPeerClient({
    ...{ ask: createAsk(outbound), baseUrl, signingKey, ownKids, onDate: clocks.note },
  });
  const { transactions, lookAgain, wakeRelay, metrics } = options;
  const parts = {
    db,
    log,
    baseUrl,
    client,
    transactions,
    lookAgain,
    wakeRelay,
    metrics: metrics?.deliveries,
  };
  const job = createPeerDeliveryJob({ ...parts, abortConnections: () => outbound.stop() });
  const sweeper = createOverdueSweeper(parts);
  queueDeliveries({ bus, db, wake: job.wake });
  return {
    endOverdue: sweeper.runOnce,
    start() {
      job.start();
      sweeper.start();
    },
    async stop() {
      await sweeper.stop();
      await job.stop();
    },
  };
}
