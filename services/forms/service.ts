import type { InternalOperations } from '#lib/contracts/operations.ts';
import { givenRoles } from '#lib/contracts/principal.ts';
import { defineService, type Given } from '#lib/runtime/service-definition.ts';
import { checkFormsSettings, formsSpecs, resolveFormsSettings } from './config.ts';
import type { Demo } from './handlers/dependencies.ts';

/** The accounts of the demonstration, which the first page lists (docs/operations.md, "Settings"). */
const demoAccounts = givenRoles.map((role) => ({
  username: role,
  password: 'demo',
  role,
}));

/** The forms service, as processes start it. */
export const formsService = defineService({
  name: 'forms',
  folder: import.meta.dirname,
  tables: ['events', 'audit', 'settings'],
  specs: formsSpecs,
  check: checkFormsSettings,
  secrets: [],
  calls: ['auth'],
  callers: {
    resolveLayout: ['transactions'],
    describeForm: ['transactions'],
    readForm: ['transactions'],
    checkAnswers: ['transactions'],
    checkSubmission: ['transactions'],
    checkImported: ['transactions'],
    activeVersions: ['transactions'],
    withCommas: ['transactions'],
    versionsAt: ['transactions'],
    exportModels: ['transactions'],
    renderPage: ['transactions'],
    renderText: ['transactions'],
    renderMessage: ['transactions'],
    renderReceiptPdf: ['transactions'],
    sharedEntries: ['peers'],
    storePeerEntries: ['peers'],
    finishPeerCatalogue: ['peers'],
    forgetPeer: ['peers'],
    setKnownPeers: ['peers'],
    peerChoices: ['transactions'],
    setMessageChannels: ['transactions'],
    auditProof: ['peers'],
  } satisfies Record<keyof InternalOperations['forms'], readonly string[]>,
  async load() {
    const { composeForms } = await import('./compose.ts');
    const { loadMailTemplate } = await import('#lib/mail/mail-template.ts');
    const { loadPageTemplates } = await import('./pages/page-renderer.ts');
    return {
      loadPages() {
        loadPageTemplates();
        loadMailTemplate();
      },
      async compose(given) {
        const { shared, db, settings, connect, demo } = given;
        const forms = await composeForms({
          ...shared,
          db,
          auth: connect('auth'),
          settings: {
            ...resolveFormsSettings(settings, shared.instance.baseUrl),
            corsOrigins: settings.CORS_ORIGINS,
            trustedProxies: settings.TRUSTED_PROXIES,
            staleDays: settings.PEER_STALE_LIMIT,
            locales: settings.LOCALES_DIR,
          },
          demo: demo ? demoOf(given) : null,
        });
        return { ...forms, prefixes: ['/'] };
      },
    };
  },
});

function demoOf({ settings, shared, connect }: Given<typeof formsSpecs, never>): Demo {
  const { authUrl, publicClient } = resolveFormsSettings(settings, shared.instance.baseUrl);
  return {
    async formUrl() {
      const { createDemoForm } = await import('./demo/seed-demo.ts');
      return createDemoForm(connect('transactions'));
    },
    tokenUrl: publicClient ? authUrl : null,
    accounts: settings.OIDC_ISSUER ? [] : demoAccounts,
  };
}
