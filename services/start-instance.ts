import type { RequestListener, ServerResponse } from 'node:http';
import path from 'node:path';
import { loadSecrets, warnOfMode } from '#lib/config/secrets.ts';
import { resolveSignIn } from '#lib/config/specs.ts';
import { givenRoles } from '#lib/contracts/principal.ts';
import { acquireAdvisoryLock } from '#lib/db/advisory-lock.ts';
import { hasRows } from '#lib/db/connect-at-start.ts';
import { startEmbeddedPostgres } from '#lib/db/embedded/start-embedded-postgres.ts';
import { migrate } from '#lib/db/migrate.ts';
import { listen } from '#lib/http/listen.ts';
import { createProbes, type Probes } from '#lib/http/probes.ts';
import { createInternalFront } from '#lib/internal/internal-server.ts';
import { createLogger, type Logger } from '#lib/observability/logger.ts';
import { type ProcessParts, type Running, stopParts } from '#lib/runtime/run-process.ts';
import { composeInstance } from './compose-instance.ts';
import { definitions } from './definitions.ts';
import { type InstanceSettings, readInstanceSettings } from './settings.ts';

export interface Instance extends Running {
  baseUrl: string;
  /** Text for the operator: URLs, accounts, a curl command. */
  welcome: string;
}

/**
 * Starts every service in this process. Listens first, so that a port conflict is reported before anything is
 * changed; then starts the database, migrations and services.
 * @throws StartupError.
 */
export async function startInstance(environment: Record<string, string | undefined>): Promise<Instance> {
  const settings = readInstanceSettings(environment);
  const { HOST: host, STOP_DELAY: delayMs } = settings;
  const log = createLogger({ level: settings.LOG_LEVEL });
  const probes = createProbes();
  const front = createStartingFront(probes);
  const internal = createInternalFront(probes);
  const parts: ProcessParts = { probes, front: await listen(front.handle, { host, port: settings.PORT }) };
  let data: Data | undefined;
  const stop = async () => {
    await stopParts(parts, delayMs);
    await data?.stop();
  };
  try {
    if (settings.INTERNAL_PORT !== undefined)
      parts.internal = await listen(internal.handle, {
        host,
        port: settings.INTERNAL_PORT,
        setting: 'INTERNAL_PORT',
      });
    const baseUrl = settings.BASE_URL ?? `http://localhost:${parts.front?.port}`;
    data = await openData(settings, log);
    const { url } = data;
    const secrets = await loadSecrets({
      folder: settings.SECRETS_DIR ?? path.join(data.dataDir, 'secrets'),
      // Several processes would each generate their own.
      generate: settings.KAFKA_BROKERS === undefined,
      isDatabaseUsed: () => hasRows(url, usedTables),
      onOpenToOthers: (file) => warnOfMode(log, file),
    });
    const embeddedIn = settings.DATABASE_URL ? undefined : data.dataDir;
    await migrate({ url, schemas: definitions, log, dataDir: embeddedIn });
    const services = await composeInstance({ settings, baseUrl, databaseUrl: data.url, secrets, log });
    const { runtime } = services;
    Object.assign(parts, { service: services, runtime });
    const notices = await services.start();
    runtime.shared.metrics.watchProcess();
    internal.open(runtime.shared);
    front.open(services.handle);
    probes.ready(runtime.isReady);
    const { name } = runtime.shared.instance;
    const facts = { name, ...resolveSignIn(settings, baseUrl), dataDir: data.dataDir, notices };
    return { baseUrl, welcome: welcomeLines(settings, baseUrl, facts), stop };
  } catch (error) {
    await stop().catch(() => {});
    throw error;
  }
}

/**
 * A row in one of these tables was signed, hashed or encrypted with the secrets, so they must not be
 * generated again. Accounts and clients do not count: operators may create them before the first start.
 */
const usedTables = [
  ...['auth.setup_links', 'auth.api_keys', 'forms.models'],
  ...['transactions.transactions', 'peers.peers', 'webhooks.webhooks'],
];

/** The database, and the folder of local data. */
interface Data extends Running {
  url: string;
  /** Contains the secrets unless SECRETS_DIR is set. */
  dataDir: string;
}

/** Opens DATABASE_URL, or starts the embedded database. */
async function openData(settings: InstanceSettings, log: Logger): Promise<Data> {
  const dataDir = settings.DATA_DIR ?? './data';
  if (settings.DATABASE_URL) {
    const url = settings.DATABASE_URL;
    // With Kafka any number of processes may share the database.
    const held = settings.KAFKA_BROKERS ? { stop: async () => {} } : await holdDatabase(url, log);
    return { url, dataDir: path.resolve(dataDir), stop: held.stop };
  }
  const embedded = await startEmbeddedPostgres({ dataDir, named: settings.DATA_DIR !== undefined, log });
  return { url: embedded.connectionString, dataDir: embedded.dataDir, stop: () => embedded.stop() };
}

/**
 * Without Kafka events stay in this process, so it must be the only one (docs/architecture.md, "One process
 * or many").
 */
async function holdDatabase(url: string, log: Logger): Promise<Running> {
  const onLost = () => {
    log.error('another process has locked the database; exiting');
    process.exit(1);
  };
  const { release } = await acquireAdvisoryLock({ url, onLost });
  return { stop: release };
}

/** The public listener of standalone mode, with probes. */
interface StartingFront {
  handle: RequestListener;
  open(handler: RequestListener): void;
}

/** Responds with 503 to everything except probes until the services are composed. */
function createStartingFront(probes: Probes): StartingFront {
  let handler: RequestListener = (_request, response) => refuse(response);
  return {
    handle(request, response) {
      if (!probes.handle(request, response)) handler(request, response);
    },
    open(services) {
      handler = services;
    },
  };
}

/** A problem document (docs/interface.md, "Errors"). */
function refuse(response: ServerResponse): void {
  response.writeHead(503, {
    'Content-Type': 'application/problem+json',
    'Cache-Control': 'no-store',
    'Retry-After': '1',
  });
  response.end(
    JSON.stringify({
      type: 'about:blank',
      code: 'unavailable',
      title: 'Temporarily unavailable',
      status: 503,
      detail: 'The instance is starting.',
    }),
  );
}

interface Facts {
  /** Of the instance. */
  name: string;
  authUrl: string;
  /** Folder to back up. */
  dataDir: string;
  /** Lines from services, such as the link for the first administrator. */
  notices?: readonly string[];
}

/** Text for the operator: URLs, demo accounts, a working curl command. */
export function welcomeLines(
  settings: InstanceSettings,
  baseUrl: string,
  { name, authUrl, dataDir, notices = [] }: Facts,
): string {
  const lines = [
    `${name} at ${baseUrl}`,
    ...(settings.CONSOLE ? [`  console    ${baseUrl}/console`] : []),
    `  API        ${baseUrl}/docs`,
    `  sign-in    ${authUrl}`,
    `  data       ${dataDir}`,
  ];
  lines.push(...notices.map((notice) => `  ${notice}`));
  if (settings.demo) lines.push(...demoLines(settings, baseUrl, authUrl));
  return `${lines.join('\n')}\n`;
}

/** Omits demo accounts with an outside issuer, and the curl command without the password grant. */
function demoLines(settings: InstanceSettings, baseUrl: string, authUrl: string): string[] {
  const lines = [`  a form, embedded   ${baseUrl}/demo`];
  if (!settings.MAIL_URL || !settings.SMS_URL) lines.push(`  mails and SMS   ${baseUrl}/demo/messages`);
  if (settings.OIDC_ISSUER) return lines;
  lines.unshift(`  demo accounts   ${givenRoles.join(', ')}; password demo`);
  if (!settings.PASSWORD_GRANT) return lines;
  return [
    ...lines,
    '',
    `A first consent: open ${baseUrl}, or in a terminal:`,
    `  TOKEN=$(curl -s ${authUrl} -d grant_type=password -d client_id=accord -d username=operator -d password=demo | node -p 'JSON.parse(fs.readFileSync(0)).access_token')`,
    `  curl -s ${baseUrl}/consents -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' -d '{"subject":"alice","layout":"layout.001"}'`,
  ];
}
