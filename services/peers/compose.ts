import type { JWK } from 'jose';
import type Koa from 'koa';
import type { Document } from 'openapi-backend';
import { createRepeatedWork } from '#lib/async/repeated-work.ts';
import { createAuthenticator } from '#lib/auth/authenticate.ts';
import { forgetRevokedKeys } from '#lib/auth/forget-revoked-keys.ts';
import type { SharedIntrospections } from '#lib/auth/shared-introspections.ts';
import type { AuthOperations } from '#lib/contracts/auth.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { TransactionsOperations } from '#lib/contracts/transactions.ts';
import type { Database } from '#lib/db/database.ts';
import type { EventBus } from '#lib/events/event-bus.ts';
import { eventTables } from '#lib/events/event-tables.ts';
import { createInboxSweeper } from '#lib/events/inbox-sweeper.ts';
import { createOutboxRelay } from '#lib/events/outbox-relay.ts';
import type { OverloadGuard } from '#lib/http/admission.ts';
import { clientAddress } from '#lib/http/client-address.ts';
import { createApp } from '#lib/http/create-app.ts';
import { mountContract } from '#lib/http/mount-contract.ts';
import type { RateLimiter } from '#lib/http/rate-limits.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { Metrics } from '#lib/observability/metrics.ts';
import { createOutboundClient } from '#lib/outbound/outbound-client.ts';
import { createAsk } from './client/ask.ts';
import { createPeerClient } from './client/peer-client.ts';
import { createClockWatch } from './client/watch-clocks.ts';
import { composeDeliveries, type Deliveries } from './compose-deliveries.ts';
import { followModels } from './consumers/follow-models.ts';
import { createReceiptSigner } from './domain/receipt.ts';
import { describeInstance, signDescription } from './domain/self-description.ts';
import { createPeerAuthentication } from './handlers/authenticate.ts';
import type { Dependencies } from './handlers/dependencies.ts';
import { createHandlers } from './handlers/handlers.ts';
import { createLanes } from './handlers/lanes.ts';
import { createPinnedKeys } from './handlers/pinned-keys.ts';
import { createLookAgain } from './jobs/look-again.ts';
import { type CatalogueRefresher, createCatalogueRefresher } from './jobs/refresh-catalogues.ts';
import { createKeyShower } from './jobs/show-keys.ts';
import { createTokenSweeper } from './jobs/sweep-tokens.ts';
import { createPeerTeller } from './jobs/tell-peers.ts';
import { listBacklogs, waitingDeliveries } from './queries/deliveries.ts';
import { listPeerIds } from './queries/peers.ts';

interface Options {
  db: Database;
  bus: EventBus;
  log: Logger;
  document: Document;
  auth: AuthOperations;
  forms: Pick<
    FormsOperations,
    'sharedEntries' | 'storePeerEntries' | 'finishPeerCatalogue' | 'forgetPeer' | 'setKnownPeers'
  >;
  transactions: Pick<
    TransactionsOperations,
    'readSubmissions' | 'readDecision' | 'acceptSubmission' | 'decideSubmission'
  >;
  limiter: RateLimiter;
  introspections?: SharedIntrospections;
  instance: { name: string; baseUrl: string };
  settings: {
    trustedProxies: readonly string[];
    /** Private networks where peers may be. */
    allowedNetworks: readonly string[];
    /** Whether http is good for peers on this machine (standalone, where loopback is allowed). */
    plainLoopback: boolean;
  };
  /** Private keys of the instance; the first signs, the last vouches for the others. */
  signingKeys: readonly (JWK & { kid: string })[];
  sealingKeys: readonly JWK[];
  metrics?: Metrics;
  guard?: OverloadGuard;
}

/** More than that nobody looks at; those with the most to send come first. */
const mostPeersMeasured = 50;

/** The service, wired; its background work is at hand for tests, which say when it is done. */
interface ComposedPeers {
  app: Koa;
  catalogues: CatalogueRefresher;
  deliveries: Deliveries;
  start(): Promise<void>;
  stop(): Promise<void>;
}

/** Composes the peers service: adapters are built and wired here and nowhere else. */
export async function composePeers(options: Options): Promise<ComposedPeers> {
  const { db, bus, auth, forms, transactions, limiter, instance, settings, document, metrics } = options;
  const { baseUrl } = instance;
  const log = options.log.child({ service: 'peers' });
  const [signingKey] = options.signingKeys;
  const vouchingKey = options.signingKeys.at(-1);
  if (!signingKey || !vouchingKey) throw new Error('an instance needs a signing key');
  watchTables(db, metrics);
  const relay = createOutboxRelay({ db, bus, log, metrics: metrics?.events });
  const sweeper = createTokenSweeper({ db, log });
  const inbox = createInboxSweeper({ db, log });
  const description = await describeInstance({ ...options, ...instance });
  const ownKids = new Set(description.jwks.keys.map(({ kid = '' }) => kid));
  const outbound = createOutboundClient({ allowedNetworks: settings.allowedNetworks });
  const clocks = createClockWatch({ db, log, metrics: metrics?.peers });
  const client = createPeerClient({
    ...{ ask: createAsk(outbound), baseUrl, signingKey, ownKids, onDate: clocks.note },
  });
  const lookAgain = createLookAgain({ db, client, log, atMostEverySeconds: 60 });
  const lookNowAndThen = createLookAgain({ db, client, log, atMostEverySeconds: 600 });
  const catalogues = createCatalogueRefresher({ db, client, forms, lookAgain, lookNowAndThen, log });
  const keyShower = createKeyShower({ db, client, kid: signingKey.kid, log });
  const teller = createPeerTeller({ db, client, forms, log });
  const deliveries = composeDeliveries({
    ...{ db, bus, log, transactions, baseUrl, signingKey, ownKids, clocks, lookAgain, metrics },
    ...{ allowedNetworks: settings.allowedNetworks, wakeRelay: relay.wake },
  });
  followModels({ bus, db, teller });
  const wake = () => {
    relay.wake();
    catalogues.wake();
  };
  const knownPeers = createRepeatedWork({
    everyMs: 60_000,
    work: async () => forms.setKnownPeers(await listPeerIds(db)),
    onError: (error) => log.warn('failed to tell forms which peers there are; told again later', { error }),
  });
  const authenticator = createAuthenticator({
    auth,
    onRefused: limiter.countRefusal,
    shared: options.introspections,
  });
  forgetRevokedKeys({ bus, service: 'peers', authenticator });
  const dependencies: Dependencies = {
    ...{ db, auth, client, baseUrl, ownKids, log, wake, plainLoopback: settings.plainLoopback },
    tellForms: knownPeers.runOnce,
    ownDescription: () => signDescription(description, vouchingKey),
  };
  const lanes = createLanes({
    sinceOthersMs: () => options.guard?.load().sinceOthersMs ?? Number.POSITIVE_INFINITY,
  });
  const refused = (reason: string) => metrics?.peers.refused(reason);
  const submissions = {
    ...{ db, transactions, log, refused },
    sign: createReceiptSigner({ issuer: baseUrl, key: signingKey }),
  };
  const { routes } = await mountContract({
    document,
    tag: 'peers',
    handlers: createHandlers(dependencies, {
      ...{ description, vouchingKey, signingKey, forms, limiter, submissions },
    }),
    authenticate: createPeerAuthentication({
      ...{ authenticator, db, baseUrl, log, countRefusal: limiter.countRefusal },
      ...{ lookAgain, clocks, lanes, refused, pinnedKeys: createPinnedKeys(db) },
    }),
    limit: limiter.countRequest,
    admit: options.guard?.admitFor('peers'),
  });
  const app = createApp({ service: 'peers', metrics, baseUrl, apiVersion: document.info.version, log }, [
    clientAddress(settings.trustedProxies),
    lanes.middleware,
    routes,
  ]);
  return {
    app,
    catalogues,
    deliveries,
    async start() {
      relay.start();
      sweeper.start();
      inbox.start();
      catalogues.start();
      deliveries.start();
      keyShower.start();
      knownPeers.start();
      void knownPeers.runOnce();
    },
    async stop() {
      teller.stop();
      await deliveries.stop();
      await outbound.stop();
      await keyShower.stop();
      await knownPeers.stop();
      await catalogues.stop();
      await sweeper.stop();
      await inbox.stop();
      await relay.stop();
    },
  };
}

function watchTables(db: Database, metrics: Metrics | undefined): void {
  metrics?.watchTables({
    ...eventTables('peers', db),
    deliveries: () => waitingDeliveries(db),
    backlogs: () => listBacklogs(db, { most: mostPeersMeasured }),
  });
}
