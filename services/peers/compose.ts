import { createRepeatedWork } from '#lib/async/repeated-work.ts';
import { composeCheckpoints } from '#lib/audit/checkpoints.ts';
import { composeAudit } from '#lib/audit/compose-audit.ts';
import type { PrivateKey } from '#lib/config/secret-values.ts';
import type { AuditArea, AuditOperations } from '#lib/contracts/audit-areas.ts';
import type { AuthOperations } from '#lib/contracts/auth.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { TransactionsOperations } from '#lib/contracts/transactions.ts';
import { eventTables } from '#lib/events/dead-letters.ts';
import { createInboxSweeper } from '#lib/events/inbox.ts';
import { createOutboxRelay } from '#lib/events/outbox-relay.ts';
import { createOutboundClient } from '#lib/outbound/outbound-client.ts';
import { createServiceApp, type ServiceParts } from '#lib/runtime/service-app.ts';
import { createNoteSigner } from '#lib/witness/note-signer.ts';
import { createClockWatch } from './client/clock-watch.ts';
import { createPeerClient, textOf, textPost } from './client/peer-client.ts';
import { createCapabilities } from './commands/attempt-delivery.ts';
import type { Dependencies } from './commands/dependencies.ts';
import { createKeyRefresher } from './commands/refresh-keys.ts';
import { createWitnessing } from './commands/witnessing.ts';
import type { WitnessAddress } from './config.ts';
import { subscribePeers } from './consumers/subscribe.ts';
import { createAcknowledgementSigner } from './domain/acknowledgement.ts';
import { describeInstance, signDescription } from './domain/description.ts';
import { signClaims } from './domain/signatures.ts';
import { createPeerAuthentication } from './handlers/authenticate.ts';
import { catalogueHandlers } from './handlers/catalogue.ts';
import { pairingHandlers } from './handlers/pairing.ts';
import { partHandlers } from './handlers/parts.ts';
import { createPeerLimiter } from './handlers/peer-limiter.ts';
import { peerHandlers } from './handlers/peers.ts';
import { witnessHandlers } from './handlers/witness.ts';
import { createAnnouncer } from './jobs/announce.ts';
import { createWitnessJob } from './jobs/ask-witnesses.ts';
import { createOverdueSweeper } from './jobs/end-overdue.ts';
import { createDeliveryJob } from './jobs/peer-deliveries.ts';
import { createCatalogueRefresher } from './jobs/refresh-catalogues.ts';
import { listBacklogs, waitingDeliveries } from './queries/deliveries.ts';
import { deleteExpiredTokens, listPeerIds } from './queries/peers.ts';
import { countDisputes } from './queries/witness-states.ts';

interface Options extends ServiceParts {
  auth: AuthOperations;
  forms: FormsOperations;
  transactions: Omit<TransactionsOperations, 'createTransaction'>;
  /** The service with the audit log of another area. */
  auditOf?: (area: Exclude<AuditArea, 'peers'>) => AuditOperations;
  instance: ServiceParts['instance'] & { readonly name: string };
  settings: ServiceParts['settings'] & {
    /** Private networks where peers may be. */
    allowedNetworks: readonly string[];
    /** Whether peers on this machine may use http (standalone). */
    plainLoopback: boolean;
    /** WITNESS_URL */
    witnesses?: readonly WitnessAddress[];
  };
  /** Private keys, newest first. The first signs requests and documents, the last the self-description. */
  signingKeys: readonly PrivateKey[];
  sealingKeys: readonly PrivateKey[];
}

/** Peers in metrics, those with the longest backlog first. */
const maxMeasuredPeers = 50;
/** The delivery engine limits requests per peer. A limit per host would delay other peers on that host. */
const deliveryLimits = { perHost: 64, total: 64 };

/** Builds and wires the peers service. Tests run its background jobs themselves. */
export async function composePeers(options: Options) {
  const { db, bus, auth, forms, transactions, limiter, instance, settings, metrics, tracing } = options;
  const { baseUrl } = instance;
  const log = options.log.child({ service: 'peers' });
  const [signingKey] = options.signingKeys;
  const vouchingKey = options.signingKeys.at(-1);
  if (!signingKey || !vouchingKey) throw new Error('an instance needs a signing key');
  const clocks = createClockWatch({ db, log });
  const notes = createNoteSigner(baseUrl, options.signingKeys);
  const { witnesses: others = [] } = settings;
  const otherNames = others.map(({ url }) => url);
  metrics?.watchTables({
    ...eventTables('peers', db),
    deliveries: () => waitingDeliveries(db),
    backlogs: () => listBacklogs(db, { limit: maxMeasuredPeers }),
    clocks: clocks.read,
    disputes: () => countDisputes(db, otherNames),
  });
  // The name can change while the process runs.
  const describe = () => describeInstance({ ...options, ...instance, notes });
  const ownKids = new Set(describe().jwks.keys.map(({ kid = '' }) => kid));
  metrics?.peers.watch();
  const { allowedNetworks } = settings;
  const outbound = createOutboundClient({ allowedNetworks });
  const clientOptions = { baseUrl, signingKey, ownKids, onDate: clocks.note };
  const client = createPeerClient({ outbound, ...clientOptions });
  const calling = { db, client, log };
  const relay = createOutboxRelay({ db, bus, log, metrics: metrics?.events });
  const inbox = createInboxSweeper({ db, log });
  const audit = composeAudit({ area: 'peers', db, bus, log, instance: options.instance });
  const checkpoints = composeCheckpoints({
    db,
    bus,
    log,
    baseUrl,
    sign: (claims) => signClaims(claims, { type: 'accord-checkpoint+jwt', key: signingKey }),
    wake: relay.wake,
    witnessing: createWitnessing({ db, notes, others: otherNames }),
  });
  const everyMinute = (task: string, work: () => Promise<unknown>) =>
    createRepeatedWork({
      everyMs: 60_000,
      work,
      onError: (error) => log.warn(`failed to ${task}; retried in a minute`, { error }),
    });
  const tokens = everyMinute('delete expired token ids', () => deleteExpiredTokens(db));
  const sendPeers = async () => forms.setKnownPeers(await listPeerIds(db));
  const knownPeers = everyMinute('send the list of peers to forms', sendPeers);
  const dependencies: Dependencies = {
    ...calling,
    auth,
    forms,
    transactions,
    refreshKeys: createKeyRefresher(calling),
    baseUrl,
    plainLoopback: settings.plainLoopback,
    ownKids,
    ownDescription: () => signDescription(describe(), vouchingKey),
    recordRejection: (reason) => metrics?.peers.rejected(reason),
    wakeRelay: relay.wake,
    afterPairingChange() {
      relay.wake();
      catalogues.wake();
      return knownPeers.runOnce();
    },
  };
  const catalogues = createCatalogueRefresher(dependencies);
  const announcer = createAnnouncer({ ...dependencies, kid: signingKey.kid });
  // A client of its own, so that deliveries do not wait for reads of catalogues.
  const deliveryOutbound = createOutboundClient({ allowedNetworks, limits: deliveryLimits });
  const deliveryClient = createPeerClient({ outbound: deliveryOutbound, ...clientOptions });
  const deliveryDependencies = {
    ...dependencies,
    client: deliveryClient,
    hasCapability: createCapabilities(deliveryClient),
    metrics: metrics?.deliveries,
    tracing,
    abortConnections: () => deliveryOutbound.stop(),
  };
  const deliveries = createDeliveryJob(deliveryDependencies);
  const overdue = createOverdueSweeper(deliveryDependencies);
  subscribePeers({ bus, db, wake: deliveries.wake, announce: announcer.announce });

  const witnesses = createWitnessJob({
    ...dependencies,
    sendUnsigned: async (url, body) => textOf(await outbound.request(textPost(url, body))),
    others,
    async proofOf(area, sizes) {
      const log = area === 'peers' ? audit.operations : options.auditOf?.(area);
      return log ? log.auditProof(sizes) : { proof: null };
    },
  });
  const jobs = [
    relay,
    tokens,
    inbox,
    catalogues,
    announcer,
    knownPeers,
    audit,
    checkpoints.signer,
    witnesses,
  ];
  const peerLimiter = createPeerLimiter({
    sinceOthersMs: () => options.guard?.load().sinceOthersMs ?? Number.POSITIVE_INFINITY,
  });
  const app = await createServiceApp(options, {
    service: 'peers',
    auth,
    handlers: {
      ...peerHandlers(dependencies),
      ...pairingHandlers(dependencies, { describe, limiter }),
      ...catalogueHandlers(dependencies, { signingKey, wake: catalogues.wake }),
      ...partHandlers(dependencies, createAcknowledgementSigner(baseUrl, signingKey)),
      ...witnessHandlers({ ...dependencies, notes }, limiter),
      listPeersAudit: audit.list,
      listCheckpoints: checkpoints.list,
    },
    authenticate: (authenticator) =>
      createPeerAuthentication({
        ...dependencies,
        authenticator,
        countRefusal: limiter.countRefusal,
        clocks,
        peerLimiter,
      }),
    middleware: [peerLimiter.middleware],
  });
  return {
    app,
    catalogues,
    endOverdue: overdue.runOnce,
    async start() {
      for (const job of [...jobs, deliveries, overdue]) job.start();
      for (const job of [knownPeers, announcer]) void job.runOnce();
    },
    async stop() {
      await overdue.stop();
      await deliveries.stop();
      await outbound.stop();
      for (const job of jobs.toReversed()) await job.stop();
    },
  };
}
