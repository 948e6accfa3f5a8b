import { Writable } from 'node:stream';
import { generatePrivateKey, readPrivateKey } from '#lib/config/secret-values.ts';
import type { AuthOperations } from '#lib/contracts/auth.ts';
import type { TransactionsOperations } from '#lib/contracts/transactions.ts';
import { createDatabase, type Database } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { createMemoryRateLimiter } from '#lib/http/rate-limits.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { savePeer } from '../../../services/peers/commands/pair.ts';
import { composePeers } from '../../../services/peers/compose.ts';
import { readDescription } from '../../../services/peers/domain/description.ts';
import type { createCatalogueRefresher } from '../../../services/peers/jobs/refresh-catalogues.ts';
import { readContract } from '../contract/contract.ts';
import type { OwnPeer } from '../peers/peer-of-our-own.ts';
import { createTestBus } from '../stores/event-bus.ts';
import { type FormsService, startForms } from './forms-service.ts';
import { settingsOf } from './settings-of.ts';

/**
 * The services peers and forms of one instance, without anything that runs by itself: a test says when
 * catalogues are read.
 */
export interface PeersService {
  db: Database;
  forms: FormsService;
  /** Of one replica. */
  catalogues: ReturnType<typeof createCatalogueRefresher>;
  /** Of another replica, on the same database. */
  otherReplica: ReturnType<typeof createCatalogueRefresher>;
  /** Pairs with a partner that a test plays. @returns its id. */
  pairWith(partner: OwnPeer): Promise<string>;
  /** Every line that was logged. */
  logs(): string;
  stop(): Promise<void>;
}

const baseUrl = 'http://here.test';
const nobody = async () => ({ result: 'none' }) as const;
const auth = { introspect: nobody, spendPairingKeys: async () => ({}) } as unknown as AuthOperations;

export async function startPeers(): Promise<PeersService> {
  const forms = await startForms();
  const lines: string[] = [];
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk));
      done();
    },
  });
  const log = createLogger({ destination });
  const pool = createPool({ url: forms.databaseUrl, schema: 'peers', log });
  const db = createDatabase({ pool });
  const compose = () =>
    composePeers({
      db,
      log,
      auth,
      bus: createTestBus(log),
      forms: forms.operations,
      transactions: {} as TransactionsOperations,
      document: readContract() as never,
      limiter: createMemoryRateLimiter('off'),
      instance: settingsOf(baseUrl, 'Here').instance,
      settings: {
        trustedProxies: [],
        allowedNetworks: ['127.0.0.0/8', '::1/128'],
        plainLoopback: true,
      },
      signingKeys: [readPrivateKey(generatePrivateKey())],
      sealingKeys: [readPrivateKey(generatePrivateKey())],
    });
  const [one, other] = await Promise.all([compose(), compose()]);
  return {
    db,
    forms,
    catalogues: one.catalogues,
    otherReplica: other.catalogues,
    async pairWith(partner) {
      const read = readDescription(await partner.describe(), {
        url: partner.url,
        now: new Date(),
        ownKids: new Set(),
      });
      if ('fault' in read) throw new Error(`the partner cannot be paired with: ${read.fault}`);
      const how = { action: 'peer.paired' } as const;
      const { id } = await db.withTransaction((tx) =>
        savePeer(tx, { baseUrl }, { ...how, description: read.description }),
      );
      return id;
    },
    logs: () => lines.join(''),
    async stop() {
      await Promise.all([one.stop(), other.stop()]);
      await pool.end();
      await forms.stop();
    },
  };
}
