import type { JWK } from 'jose';
import type Koa from 'koa';
import { createRepeatedWork } from '#lib/async/repeated-work.ts';
import { composeAudit } from '#lib/audit/compose-audit.ts';
import { signedReceipts } from '#lib/audit/record-action.ts';
import type { PrivateKey } from '#lib/config/secret-values.ts';
import type { AuditOperations } from '#lib/contracts/audit-areas.ts';
import type { AuthOperations } from '#lib/contracts/auth.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { MessageChannel } from '#lib/contracts/messages.ts';
import type { TransactionsOperations } from '#lib/contracts/transactions.ts';
import { eventTables } from '#lib/events/dead-letters.ts';
import { createInboxSweeper } from '#lib/events/inbox.ts';
import { createOutboxRelay } from '#lib/events/outbox-relay.ts';
import { createSecretBox } from '#lib/jose/secret-box.ts';
import type { Instance } from '#lib/runtime/live-settings.ts';
import { createServiceApp, type ServiceParts } from '#lib/runtime/service-app.ts';
import { createAnswersDigests } from './answer/answers.ts';
import { createCodes } from './answer/code.ts';
import { createCampaignJob } from './campaigns/run.ts';
import { createUnsubscribeTokens } from './campaigns/unsubscribe-token.ts';
import { createLinkSender } from './choices/ask-link.ts';
import { createChoicesTokens } from './choices/session.ts';
import { createDecisionCounts } from './decisions/counts.ts';
import { createVersionsCache } from './decisions/decide.ts';
import { createAccessMappings } from './decisions/mappings-store.ts';
import {
  createMessageJob,
  createQueueSweeper,
  createWaitingReleaser,
  type Transports,
} from './delivery/deliver.ts';
import type { DemoMailbox } from './delivery/demo.ts';
import { createEraser } from './erasure/erase-job.ts';
import { createSubjectDigest } from './erasure/erasure.ts';
import { createStrangersSweeper } from './erasure/forget-strangers.ts';
import { createRetention } from './erasure/retain.ts';
import { createPageSigner } from './export/sign-page.ts';
import { createSubjectAuthentication } from './http/authenticate.ts';
import { createChoicesSessions } from './http/choices-session.ts';
import type { Dependencies } from './http/dependencies.ts';
import { renderErrorPage } from './http/error-page.ts';
import { createHandlers } from './http/handlers.ts';
import {
  createDeadlineSweeper,
  createExpiryNotifier,
  createPartSweeper,
  createVerdictSweeper,
} from './jobs.ts';
import type { MessageLimits } from './messages/limits.ts';
import { createDestinationDigests } from './messages/message.ts';
import { createMessaging } from './messages/messaging.ts';
import { waitingMessages } from './messages/store.ts';
import { createOperations } from './operations.ts';
import { targetsOfPerson } from './person/store.ts';
import { createReceiptSigner } from './receipts/receipt.ts';
import { heldParts } from './received-parts/store.ts';
import { countOverdue } from './sent-parts/notices-store.ts';
import type { Channels } from './transaction/context.ts';
import { createShortCodes } from './transaction/short-link.ts';
import { createTransactionTokens } from './transaction/token.ts';
import { followNotices } from './verdicts/follow-notices.ts';
import { followVerdicts } from './verdicts/follow-verdicts.ts';

interface Options extends ServiceParts {
  auth: Pick<AuthOperations, 'introspect'>;
  forms: FormsOperations;
  instance: Instance;
  settings: ServiceParts['settings'] & {
    /** CSP sources. */
    embedOrigins: string;
    /** Interval of the sweeper of deadlines; at most 10 s. */
    sweepMs: number;
    /** EXPIRY_NOTICE */
    expiryNoticeDays: number;
    /** CODE_TTL, CODE_RESEND_AFTER; seconds. */
    codeTtl: number;
    resendAfter: number;
    limits: MessageLimits;
  };
  transports: Transports;
  mailbox?: DemoMailbox | null;
  /** Senders that a context may name, by channel. */
  senders: { [Channel in keyof Channels]: NonNullable<Channels[Channel]> };
  /** First signs, all verify. */
  tokenSecrets: readonly Uint8Array[];
  /** The instance's private signing key (ES256) with its thumbprint. */
  signingKey: JWK & { kid: string };
  /** Private keys that open parts from peers. */
  sealingKeys: readonly PrivateKey[];
  /** `erasure-pepper`: the first makes digests, all recognise. */
  erasurePeppers: readonly Uint8Array[];
  /** Keys that encrypt scans of answers. */
  documentKeys: readonly Uint8Array[];
}

/** Composes the transactions service. */
export async function composeTransactions(options: Options): Promise<{
  app: Koa;
  operations: TransactionsOperations & AuditOperations;
  start(): Promise<void>;
  stop(): Promise<void>;
}> {
  const { db, bus, forms, instance, settings } = options;
  const log = options.log.child({ service: 'transactions' });
  options.metrics?.watchTables({
    ...eventTables('transactions', db),
    held: () => heldParts(db),
    overdueNotices: () => countOverdue(db),
    deliveries: () => waitingMessages(db),
  });
  options.metrics?.messages.watch();
  options.metrics?.submissions.watch();
  const relay = createOutboxRelay({ db, bus, log, metrics: options.metrics?.events });
  const expiryNoticeMs = settings.expiryNoticeDays * 86_400_000;
  const { wake } = relay;
  const job = { db, log, source: instance.baseUrl, wake, everyMs: settings.sweepMs };
  const tokens = createTransactionTokens({ secrets: options.tokenSecrets, baseUrl: instance.baseUrl });
  const choicesTokens = createChoicesTokens(options.tokenSecrets, instance.baseUrl);
  const sessions = createChoicesSessions({ db, tokens: choicesTokens, baseUrl: instance.baseUrl });
  const { transports, senders, tokenSecrets } = options;
  const box = createSecretBox(tokenSecrets, 'accord messages');
  const decisionCounts = createDecisionCounts({ db, log, metrics: options.metrics?.decisions });
  const dependencies: Dependencies = {
    db,
    forms,
    tokens,
    instance,
    signReceipt: createReceiptSigner(options.signingKey),
    signPage: createPageSigner(options.signingKey, instance),
    digests: createAnswersDigests(tokenSecrets),
    codes: createCodes(tokenSecrets),
    codeTtl: settings.codeTtl,
    resendAfter: settings.resendAfter,
    messaging: createMessaging({
      channels: {
        mail: transports.mail && senders.mail,
        sms: transports.sms && senders.sms,
      },
      limits: settings.limits,
      box,
      digests: createDestinationDigests(tokenSecrets),
      log,
      metrics: options.metrics?.messages,
    }),
    embedOrigins: settings.embedOrigins,
    mailbox: options.mailbox ?? null,
    countDecisions: options.limiter.countDecisions,
    countPublic: options.limiter.countPublic,
    countLink: options.limiter.countLink,
    forgetLink: options.limiter.forgetLink,
    shortCodes: createShortCodes(tokenSecrets),
    choicesTokens,
    choices: sessions,
    countChoices: options.limiter.countChoices,
    unsubscribeTokens: createUnsubscribeTokens(tokenSecrets),
    wakeCampaigns: () => void campaignJob.runOnce(),
    decisionCounts,
    accessMappings: createAccessMappings(db),
    log,
    versions: createVersionsCache({ forms, bus }),
    expiryNoticeMs,
    wake,
    subjectDigest: createSubjectDigest(options.erasurePeppers),
    documents: createSecretBox(options.documentKeys, 'accord documents'),
    wakeErasure: () => void eraser.runOnce(),
  };
  const campaignJob = createCampaignJob({ ...dependencies, transports, log });
  const eraser = createEraser({ ...dependencies, log, everyMs: settings.sweepMs });
  const audit = composeAudit({
    area: 'consents',
    db,
    bus,
    log,
    instance,
    queue: signedReceipts,
    related: targetsOfPerson,
  });
  const jobs = [
    audit,
    eraser,
    createRetention({ ...job, instance }),
    createDeadlineSweeper({ ...job, messaging: dependencies.messaging }),
    createStrangersSweeper(job),
    createExpiryNotifier({ ...job, forms, leadMs: expiryNoticeMs }),
    createPartSweeper({ ...job, messaging: dependencies.messaging }),
    createVerdictSweeper({ db, log }),
    createInboxSweeper({ db, log }),
    createQueueSweeper(job),
    createWaitingReleaser({ ...job, limits: settings.limits }),
    createLinkSender({ db, log, messaging: dependencies.messaging, box }),
    decisionCounts,
  ];
  const { mail, sms } = dependencies.messaging.channels;
  const channels: MessageChannel[] = [...(mail ? ['mail' as const] : []), ...(sms ? ['sms' as const] : [])];
  const channelReport = createRepeatedWork({
    everyMs: 60_000,
    work: () => forms.setMessageChannels({ channels }),
    onError: (error) => log.warn('failed to report mail and SMS to forms; retried in a minute', { error }),
  });
  followVerdicts({ ...dependencies, bus, log });
  followNotices({ bus, db });
  const messageJob = createMessageJob({
    ...dependencies,
    box,
    transports,
    log,
    metrics: options.metrics,
    tracing: options.tracing,
  });
  const app = await createServiceApp(options, {
    service: 'transactions',
    auth: options.auth,
    handlers: { ...createHandlers(dependencies), listConsentsAudit: audit.list },
    authenticate: (authenticator) =>
      createSubjectAuthentication({
        authenticator,
        tokens,
        sessions,
        onRefused: options.limiter.countRefusal,
      }),
    renderErrorPage: renderErrorPage(dependencies),
    openReads: (path) => path.startsWith('/consents/'),
  });
  return {
    app,
    operations: {
      ...audit.operations,
      ...createOperations({
        ...dependencies,
        log,
        sealingKeys: options.sealingKeys,
        metrics: options.metrics?.submissions,
      }),
    },
    async start() {
      relay.start();
      messageJob.start();
      campaignJob.start();
      for (const { start } of jobs) start();
      channelReport.start();
      void channelReport.runOnce();
    },
    async stop() {
      await channelReport.stop();
      for (const { stop } of jobs) await stop();
      await Promise.all([messageJob.stop(), campaignJob.stop()]);
      await Promise.all([transports.mail?.close(), transports.sms?.transport.close()]);
      await relay.stop();
    },
  };
}
