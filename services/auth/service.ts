import type { InternalOperations } from '#lib/contracts/operations.ts';
import { defineService } from '#lib/runtime/service-definition.ts';
import { authSpecs, checkAuthSettings, resolveAuthSettings } from './config.ts';

/** The auth service (services/auth/README.md). */
export const authService = defineService({
  name: 'auth',
  folder: import.meta.dirname,
  tables: ['events', 'audit', 'settings'],
  specs: authSpecs,
  check: checkAuthSettings,
  secrets: ['keyPepper', 'issuerCookies', 'issuerSigning', 'consoleClient'],
  calls: [],
  callers: {
    introspect: ['forms', 'transactions', 'peers', 'webhooks'],
    reservePairingKey: ['peers'],
    usePairingKey: ['peers'],
    spendPairingKeys: ['peers'],
    auditProof: ['peers'],
  } satisfies Record<keyof InternalOperations['auth'], readonly string[]>,
  async load() {
    const { composeAuth } = await import('./compose.ts');
    const { createMailTransport } = await import('#lib/mail/mail-transport.ts');
    const { loadMailTemplate } = await import('#lib/mail/mail-template.ts');
    const { loadPageTemplates } = await import('./issuer/render-pages.ts');
    return {
      loadPages() {
        loadPageTemplates();
        loadMailTemplate();
      },
      async compose({ shared, db, settings, secrets, demo }) {
        const { hostname: host } = new URL(shared.instance.baseUrl);
        const auth = await composeAuth({
          ...shared,
          db,
          secrets,
          transport: settings.MAIL_URL
            ? createMailTransport({ url: settings.MAIL_URL, ca: settings.MAIL_CA, host })
            : null,
          settings: {
            ...resolveAuthSettings(settings, {
              baseUrl: shared.instance.baseUrl,
              demo,
            }),
            corsOrigins: settings.CORS_ORIGINS,
            trustedProxies: settings.TRUSTED_PROXIES,
          },
        });
        return {
          ...auth,
          async start() {
            const link = await auth.start();
            return link && `first administrator (single use, valid for one hour)   ${link}`;
          },
        };
      },
    };
  },
});
