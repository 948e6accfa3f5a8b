import { defineService } from '#lib/runtime/service-definition.ts';
import { composeAuth } from './compose.ts';
import { authSpecs, checkAuthSettings, resolveAuthSettings } from './config.ts';
import { loadPageTemplates } from './issuer/render-pages.ts';

/** The auth service (services/auth/README.md). */
export const authService = defineService({
  name: 'auth',
  migrations: new URL('./migrations', import.meta.url),
  specs: authSpecs,
  check: checkAuthSettings,
  secrets: ['keyPepper', 'issuerCookies', 'issuerSigning', 'consoleClient'],
  calls: [],
  callers: {
    introspect: ['forms', 'transactions', 'peers', 'webhooks'],
    reservePairingKey: ['peers'],
    usePairingKey: ['peers'],
    spendPairingKeys: ['peers'],
  },
  loadPages: loadPageTemplates,
  async compose({ shared, db, settings, secrets, demo }) {
    const auth = await composeAuth({
      ...shared,
      db,
      secrets,
      settings: {
        ...resolveAuthSettings(settings, {
          baseUrl: shared.instance.baseUrl,
          demo,
          defaultLanguage: settings.INSTANCE_LANGUAGE,
        }),
        corsOrigins: settings.CORS_ORIGINS,
        trustedProxies: settings.TRUSTED_PROXIES,
        auditRetention: settings.AUDIT_RETENTION,
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
});
