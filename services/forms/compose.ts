import type Koa from 'koa';
import { composeAudit } from '#lib/audit/compose-audit.ts';
import type { AuditOperations } from '#lib/contracts/audit-areas.ts';
import type { AuthOperations } from '#lib/contracts/auth.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import { eventTables } from '#lib/events/dead-letters.ts';
import { createOutboxRelay } from '#lib/events/outbox-relay.ts';
import type { Instance, LiveSettings } from '#lib/runtime/live-settings.ts';
import { createServiceApp, type ServiceParts } from '#lib/runtime/service-app.ts';
import { seedDemo } from './demo/seed-demo.ts';
import { assetHandlers } from './handlers/assets.ts';
import { contractHandlers } from './handlers/contract.ts';
import type { Demo, Dependencies } from './handlers/dependencies.ts';
import { modelHandlers } from './handlers/models.ts';
import { pageHandlers, renderErrorPage } from './handlers/pages.ts';
import { planHandlers } from './handlers/plans.ts';
import { publicFormHandlers } from './handlers/public-forms.ts';
import { settingsHandlers } from './handlers/settings.ts';
import { templateHandlers } from './handlers/templates.ts';
import { versionHandlers } from './handlers/versions.ts';
import { createContext, type OperationOptions } from './operations/context.ts';
import { createOperations } from './operations/create-operations.ts';
import { createPreviews } from './operations/previews.ts';
import { createPublicForms } from './operations/public-form.ts';
import { createAssets } from './pages/assets.ts';
import { createPageRenderer } from './pages/page-renderer.ts';
import { createPdfRenderer } from './pdf/pdf-renderer.ts';

interface Options extends ServiceParts {
  auth: Pick<AuthOperations, 'introspect'>;
  instance: Instance;
  liveSettings: LiveSettings;
  settings: ServiceParts['settings'] &
    Pick<Dependencies, 'authUrl' | 'publicClient' | 'issuer' | 'consolePath'> &
    Pick<OperationOptions, 'staleDays'> & {
      /** Folder with messages of the organisation's own (LOCALES_DIR). */
      locales?: string | undefined;
    };
  /** Demo mode: creates the models of the demonstration and shows them on the first page. */
  demo: Demo | null;
}

/** Composes the forms service: adapters are built and wired here and nowhere else. */
export async function composeForms(options: Options): Promise<{
  app: Koa;
  operations: FormsOperations & AuditOperations;
  start(): Promise<void>;
  stop(): Promise<void>;
}> {
  const { db, bus, instance, settings, document, demo } = options;
  const log = options.log.child({ service: 'forms' });
  options.metrics?.watchTables(eventTables('forms', db));
  const relay = createOutboxRelay({ db, bus, log, metrics: options.metrics?.events });
  const audit = composeAudit({ area: 'models', db, bus, log, instance });
  const assets = createAssets();
  const renderer = createPageRenderer(assets, settings.locales);
  const pdf = createPdfRenderer({ log });
  const { authUrl, publicClient, issuer, consolePath, staleDays } = settings;
  const context = createContext({
    db,
    log,
    renderer,
    pdf,
    instance,
    consolePath,
    staleDays,
  });
  const operations = createOperations(context);
  const dependencies: Dependencies = {
    db,
    source: instance.baseUrl,
    wake: relay.wake,
    operations,
    previews: createPreviews(context),
    publicForms: createPublicForms(context),
    renderer,
    assets,
    document,
    instance,
    liveSettings: options.liveSettings,
    authUrl,
    publicClient,
    issuer,
    consolePath,
    staleDays,
    demo,
  };
  const app = await createServiceApp(options, {
    service: 'forms',
    auth: options.auth,
    handlers: {
      ...assetHandlers(dependencies),
      ...contractHandlers(dependencies),
      ...pageHandlers(dependencies),
      ...modelHandlers(dependencies),
      ...planHandlers(dependencies),
      ...templateHandlers(dependencies),
      ...versionHandlers(dependencies),
      ...publicFormHandlers(dependencies),
      ...settingsHandlers(dependencies),
      listModelsAudit: audit.list,
    },
    renderErrorPage: renderErrorPage(dependencies),
    openReads: (path) => path.startsWith('/assets/'),
  });
  return {
    app,
    operations: { ...operations, ...audit.operations },
    async start() {
      if (demo) await seedDemo(dependencies);
      relay.start();
      audit.start();
    },
    async stop() {
      await Promise.all([relay.stop(), pdf.stop(), audit.stop()]);
    },
  };
}
