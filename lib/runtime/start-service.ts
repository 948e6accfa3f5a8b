import { databaseLogins } from '#lib/config/secret-files.ts';
import { loadSecrets, type Secrets, warnOfMode } from '#lib/config/secrets.ts';
import { readServiceSettings } from '#lib/config/settings.ts';
import { waitForSchema } from '#lib/db/migrate.ts';
import { createSharedClock, type SharedClock } from '#lib/db/pool.ts';
import { roleOf } from '#lib/db/service-role.ts';
import { listen } from '#lib/http/listen.ts';
import { createProbes } from '#lib/http/probes.ts';
import { createCallerCheck, createCallerTokens } from '#lib/internal/caller-tokens.ts';
import { createInternalClient, readOperations } from '#lib/internal/internal-client.ts';
import { createInternalFront, serveOperations } from '#lib/internal/internal-server.ts';
import { createLogger } from '#lib/observability/logger.ts';
import type { Tracing } from '#lib/observability/tracing.ts';
import { createRuntime, type OwnedRuntime } from '#lib/runtime/create-runtime.ts';
import { type ProcessParts, type Running, runProcess, stopParts } from '#lib/runtime/run-process.ts';
import type { ComposedService, ServiceDefinition, Specs } from '#lib/runtime/service-definition.ts';

/** A service that runs as a process. */
export interface RunningService extends Running {
  name: string;
  url: string;
  internalUrl: string;
  notice: string | undefined;
}

/**
 * Longer than nginx and other proxies keep idle connections, so that we never close one that carries a
 * request.
 */
const keepAliveMs = 75_000;

/**
 * Starts one service: reads settings and secrets, opens the internal port with its probes, waits for the
 * schema, then starts everything else and becomes ready (docs/reliability.md).
 * @param signal ends the waiting. @throws StartupError with one sentence, or a list.
 */
async function startService<S extends Specs, Name extends keyof Secrets>(
  definition: ServiceDefinition<S, Name>,
  environment: Record<string, string | undefined>,
  signal: AbortSignal,
): Promise<RunningService> {
  const prepared = await prepare(definition, environment);
  const parts: ProcessParts = { probes: createProbes() };
  try {
    return await startParts(prepared, parts, signal);
  } catch (error) {
    await stopParts(parts, 0).catch(() => {});
    throw error;
  }
}

/** Reads settings and secrets, and loads the service's code. */
async function prepare<S extends Specs, Name extends keyof Secrets>(
  definition: ServiceDefinition<S, Name>,
  environment: Record<string, string | undefined>,
) {
  const { settings, addressesOf } = readServiceSettings(definition, environment);
  const log = createLogger({ level: settings.LOG_LEVEL });
  const { callers, ...secrets } = await loadSecrets({
    folder: settings.SECRETS_DIR,
    names: definition.secrets,
    callers: [...new Set([definition.name, ...Object.values(definition.callers).flat()])],
    generate: false,
    onOpenToOthers: (file) => warnOfMode(log, file),
  });
  const code = await definition.load();
  return { definition, code, settings, addressesOf, secrets: secrets as Pick<Secrets, Name>, callers, log };
}

type Prepared<S extends Specs, Name extends keyof Secrets> = Awaited<ReturnType<typeof prepare<S, Name>>>;

/** @param parts collects the started parts, so that a failed start can stop them. */
async function startParts<S extends Specs, Name extends keyof Secrets>(
  prepared: Prepared<S, Name>,
  parts: ProcessParts,
  signal: AbortSignal,
): Promise<RunningService> {
  const { definition, settings, log } = prepared;
  const { name } = definition;
  const { HOST: host, PORT: port, INTERNAL_PORT, STOP_DELAY: delayMs } = settings;
  const internal = createInternalFront(parts.probes);
  const setting = 'INTERNAL_PORT';
  parts.internal = await listen(internal.handle, { host, port: INTERNAL_PORT, setting, keepAliveMs });
  const runtime = await createRuntime({
    settings,
    baseUrl: settings.BASE_URL,
    name,
    isDemo: false,
    log,
  });
  parts.runtime = runtime;
  const { service, clock } = await composeService(prepared, runtime, signal);
  parts.service = service;
  runtime.start();
  const notice = (await service.start()) ?? undefined;
  const { metrics, tracing } = runtime.shared;
  metrics.watchProcess();
  internal.open({ metrics, operations: offerOperations(prepared, service, { clock, tracing }) });
  parts.front = await listen(service.app.callback(), { host, port, keepAliveMs });
  await runtime.warmUp();
  parts.probes.ready(runtime.isReady);
  return {
    name,
    notice,
    url: `http://${host}:${parts.front.port}`,
    internalUrl: `http://${host}:${parts.internal.port}`,
    stop: () => stopParts(parts, delayMs),
  };
}

/** Waits for the schema, then composes the service. It does not wait for other services. */
async function composeService<S extends Specs, Name extends keyof Secrets>(
  { definition, code, settings, addressesOf, secrets, callers, log }: Prepared<S, Name>,
  { shared, openDatabase, followSettings }: OwnedRuntime,
  signal: AbortSignal,
): Promise<{ service: ComposedService; clock: SharedClock }> {
  const { name } = definition;
  const secretsDir = settings.SECRETS_DIR;
  const login = await databaseLogins(settings.DATABASE_URL, { user: roleOf(name), name, secretsDir });
  const { db, pool } = openDatabase(name, login);
  await waitForSchema({ pool, schema: definition, log, signal });
  if (definition.tables.includes('settings')) await followSettings(name, db);
  const clock = await createSharedClock(pool);
  const tokens = createCallerTokens(name, callers[name] ?? [], clock);
  const service = await code.compose({
    shared,
    db,
    settings,
    secrets,
    standalone: false,
    demo: false,
    connect: (neighbour) =>
      createInternalClient({
        service: neighbour,
        addresses: addressesOf(neighbour),
        tokens,
        reads: readOperations[neighbour],
      }),
  });
  return { service, clock };
}

function offerOperations<S extends Specs, Name extends keyof Secrets>(
  { definition: { name, callers }, callers: secrets, log }: Prepared<S, Name>,
  { operations }: ComposedService,
  { clock, tracing }: { clock: SharedClock; tracing: Tracing | undefined },
) {
  if (!operations) return undefined;
  return serveOperations({
    offer: { service: name, operations, callers },
    checkCaller: createCallerCheck(name, secrets, clock),
    log: log.child({ service: name }),
    tracing,
    clock,
  });
}

/**
 * The entry point of `node services/<name>/main.ts`. The last line of output says that the service is ready,
 * and where.
 */
export async function runService<S extends Specs, Name extends keyof Secrets>(
  definition: ServiceDefinition<S, Name>,
): Promise<void> {
  await runProcess(async (signal) => {
    const service = await startService(definition, process.env, signal);
    if (service.notice) process.stdout.write(`${service.notice}\n`);
    process.stdout.write(`${service.name} is ready: ${service.url} (internal ${service.internalUrl})\n`);
    return service;
  });
}
