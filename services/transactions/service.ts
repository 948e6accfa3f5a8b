import type { PrivateKey } from '#lib/config/secret-values.ts';
import type { InternalOperations } from '#lib/contracts/operations.ts';
import { defineService } from '#lib/runtime/service-definition.ts';
import { sweepMs, transactionsSpecs } from './config.ts';

/** The transactions service, as processes see it. */
export const transactionsService = defineService({
  name: 'transactions',
  folder: import.meta.dirname,
  tables: ['events', 'inbox', 'audit', 'settings'],
  specs: transactionsSpecs,
  secrets: ['transactionToken', 'instanceSigning', 'instanceSealing', 'documentSealing', 'erasurePepper'],
  calls: ['auth', 'forms'],
  // `createTransaction` has no callers in other processes: only the first page of a demonstration uses it,
  // and a demonstration is one process.
  callers: {
    createTransaction: [],
    readSubmissions: ['peers'],
    readDecision: ['peers'],
    acceptSubmission: ['peers'],
    decideSubmission: ['peers'],
    withdrawSubmission: ['peers'],
    eraseSubmission: ['peers'],
    auditProof: ['peers'],
  } satisfies Record<keyof InternalOperations['transactions'], readonly string[]>,
  async load() {
    const { composeTransactions } = await import('./compose.ts');
    const { createTransports } = await import('./delivery/create-transports.ts');
    const { createDemoMailbox } = await import('./delivery/demo.ts');
    return {
      async compose({ shared, db, settings, secrets, connect, demo }) {
        const isKept = demo && !(settings.MAIL_URL && settings.SMS_URL);
        const mailbox = isKept ? createDemoMailbox() : null;
        const transactions = await composeTransactions({
          ...shared,
          db,
          auth: connect('auth'),
          forms: connect('forms'),
          settings: {
            embedOrigins: settings.EMBED_ORIGINS,
            corsOrigins: settings.CORS_ORIGINS,
            trustedProxies: settings.TRUSTED_PROXIES,
            sweepMs,
            expiryNoticeDays: settings.EXPIRY_NOTICE,
            codeTtl: settings.CODE_TTL,
            resendAfter: settings.CODE_RESEND_AFTER,
            limits: {
              codes: settings.CODE_DAILY_LIMIT,
              messages: settings.MESSAGE_DAILY_LIMIT,
              prefix: settings.SMS_PREFIX_LIMIT,
              sms: settings.SMS_HOURLY_LIMIT ?? Math.max(100, settings.SMS_PREFIX_LIMIT),
              mails: settings.MAIL_HOURLY_LIMIT,
              creator: settings.CREATOR_HOURLY_LIMIT,
            },
          },
          ...createTransports(settings, { instance: shared.instance, mailbox }),
          mailbox,
          tokenSecrets: secrets.transactionToken,
          signingKey: secrets.instanceSigning[0] as PrivateKey,
          sealingKeys: secrets.instanceSealing,
          erasurePeppers: secrets.erasurePepper,
          documentKeys: secrets.documentSealing,
        });
        return { ...transactions, prefixes };
      },
    };
  },
});

const prefixes = [
  '/consents',
  '/f',
  '/l',
  '/verify',
  '/transactions',
  '/records',
  '/subjects',
  '/receipts',
  '/stats',
  '/user/records',
  '/demo/messages',
  '/audit/consents',
  '/decisions',
  '/access',
  '/choices',
  '/erasures',
  '/campaigns',
  '/.well-known/authzen-configuration',
];
