import { resolveSignIn } from '#lib/config/specs.ts';
import { defineService } from '#lib/runtime/service-definition.ts';
import { apiUrlOf, consoleSpecs } from './config.ts';

/** The console (services/console/README.md). It calls the public API with the tokens of people. */
export const consoleService = defineService({
  name: 'console',
  folder: import.meta.dirname,
  tables: [],
  specs: consoleSpecs,
  secrets: ['consoleSession', 'consoleClient'],
  calls: [],
  callers: {},
  async load() {
    const { composeConsole } = await import('./compose.ts');
    const { loadOutsideTemplates } = await import('./pages/outside-pages.ts');
    const { rooms } = await import('./rooms/rooms.ts');
    const { loadKitTemplates, loadRoomTemplates } = await import('./rooms/serve-rooms.ts');
    return {
      loadPages() {
        loadOutsideTemplates();
        loadKitTemplates();
        for (const room of rooms) loadRoomTemplates(room);
      },
      async compose({ shared, db, settings, secrets, standalone }) {
        const { baseUrl } = shared.instance;
        const console = await composeConsole({
          ...shared,
          db,
          secrets,
          settings: {
            apiUrl: apiUrlOf(settings, { baseUrl, standalone }),
            issuerUrl: resolveSignIn({ ...settings, PASSWORD_GRANT: false }, baseUrl).authUrl,
            isOutsideIssuer: settings.OIDC_ISSUER !== undefined,
            clientId: settings.CONSOLE_CLIENT_ID,
            scopes: settings.CONSOLE_SCOPES,
            accent: settings.CONSOLE_ACCENT,
            idleSeconds: settings.CONSOLE_IDLE,
            maxSeconds: settings.CONSOLE_MAX,
            trustedProxies: settings.TRUSTED_PROXIES,
            standalone,
          },
        });
        return { ...console, prefixes: settings.CONSOLE ? ['/console'] : [] };
      },
    };
  },
});
