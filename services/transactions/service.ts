import type { PrivateKey } from '#lib/config/secret-values.ts';
import { defineService } from '#lib/runtime/service-definition.ts';
import { composeTransactions } from './compose.ts';
import { sweepMs, transactionsSpecs } from './config.ts';

/** The transactions service, as processes see it. */
export const transactionsService = defineService({
  name: 'transactions',
  migrations: new URL('./migrations', import.meta.url),
  specs: transactionsSpecs,
  secrets: ['transactionToken', 'instanceSigning', 'instanceSealing'],
  calls: ['auth', 'forms'],
  // The first page of a demonstration makes one, and a demonstration is one process.
  callers: {
    createTransaction: [],
    readSubmissions: ['peers'],
    readDecision: ['peers'],
    acceptSubmission: ['peers'],
    decideSubmission: ['peers'],
  },
  async compose({ shared, db, settings, secrets, connect }) {
    const transactions = await composeTransactions({
      ...shared,
      db,
      auth: connect('auth'),
      forms: connect('forms'),
      settings: {
        defaultLanguage: settings.INSTANCE_LANGUAGE,
        embedOrigins: settings.EMBED_ORIGINS,
        corsOrigins: settings.CORS_ORIGINS,
        trustedProxies: settings.TRUSTED_PROXIES,
        sweepMs,
        expiryNoticeDays: settings.EXPIRY_NOTICE,
      },
      tokenSecrets: secrets.transactionToken,
      signingKey: secrets.instanceSigning[0] as PrivateKey,
      sealingKeys: secrets.instanceSealing,
    });
    return { ...transactions, prefixes };
  },
});

const prefixes = [
  '/consents',
  '/transactions',
  '/records',
  '/subjects',
  '/receipts',
  '/stats',
  '/user/records',
];
