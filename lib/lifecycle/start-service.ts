import { fileURLToPath } from 'node:url';
import { readServiceSettings } from '#lib/config/read-service-settings.ts';
import { loadSecrets, type Secrets } from '#lib/config/secrets.ts';
import { databaseLogin } from '#lib/db/database-login.ts';
import { neededVersion } from '#lib/db/read-migrations.ts';
import { roleOf } from '#lib/db/service-role.ts';
import { waitForSchema } from '#lib/db/wait-for-schema.ts';
import { listen } from '#lib/http/listen.ts';
import { createProbes } from '#lib/http/probes.ts';
import { createCallerCheck, createCallerTokens } from '#lib/internal/caller-tokens.ts';
import { createInternalClient } from '#lib/internal/create-internal-client.ts';
import { createInternalFront } from '#lib/internal/internal-front.ts';
import { serveOperations } from '#lib/internal/serve-operations.ts';
import { createSurroundings } from '#lib/lifecycle/create-surroundings.ts';
import type { Running } from '#lib/lifecycle/run-process.ts';
import type { ComposedService, ServiceDefinition, Specs } from '#lib/lifecycle/service-definition.ts';
import { type ProcessParts, stopParts } from '#lib/lifecycle/stop-parts.ts';
import { createLogger, type Logger } from '#lib/observability/logger.ts';

/** A service at work in this process. */
export interface RunningService extends Running {
  name: string;
  url: string;
  internalUrl: string;
  notice: string | undefined;
}

/** Longer than nginx and others keep a connection to us: who closes second never cuts a request off. */
const keepAliveMs = 75_000;

/**
 * Starts one service: settings and secrets, the internal port with its probes, then a wait for the schema, then everything else;
 * ready when it can work (reliability.md, "Lifecycle"). @param signal ends the waiting.
 * @throws StartupError with one sentence, or a list.
 */
export async function startService<S extends Specs, Name extends keyof Secrets>(
  definition: ServiceDefinition<S, Name>,
  environment: Record<string, string | undefined>,
  signal: AbortSignal,
): Promise<RunningService> {
  const { name } = definition;
  const { settings, addressesOf } = readServiceSettings(definition, environment);
  const accepted = Object.values(definition.callers).flat();
  const secrets = await loadSecrets({
    folder: settings.SECRETS_DIR,
    names: definition.secrets,
    callers: [...new Set([name, ...accepted])],
    generate: false,
  });
  const log = createLogger({ level: settings.LOG_LEVEL });
  const probes = createProbes();
  const internal = createInternalFront(probes);
  const { HOST: host, STOP_DELAY: delayMs } = settings;
  const parts: ProcessParts = { probes };
  try {
    parts.internal = await listen(internal.handle, {
      ...{ host, port: settings.INTERNAL_PORT, setting: 'INTERNAL_PORT', keepAliveMs },
    });
    const surroundings = createSurroundings({
      ...{ settings, baseUrl: settings.BASE_URL, name, log },
      replicaSecrets: secrets.callers[name] ?? [],
    });
    parts.surroundings = surroundings;
    const url = await databaseLogin(settings.DATABASE_URL, {
      ...{ user: roleOf(name), name, secretsDir: settings.SECRETS_DIR },
    });
    const { db, pool } = surroundings.openDatabase(name, url);
    const version = await neededVersion(fileURLToPath(definition.migrations));
    await waitForSchema({ pool, schema: name, version, log, signal });
    const tokens = createCallerTokens(name, secrets.callers[name] ?? []);
    const service = await definition.compose({
      ...{ shared: surroundings.shared, db, settings, secrets, standalone: false, demo: false },
      connect: (neighbour) =>
        createInternalClient({ service: neighbour, addresses: addressesOf(neighbour), tokens }),
    });
    parts.service = service;
    surroundings.start();
    const notice = (await service.start()) ?? undefined;
    internal.open({
      metrics: surroundings.shared.metrics,
      operations: offer(definition, service, secrets.callers, log),
    });
    surroundings.shared.metrics.watchProcess();
    parts.front = await listen(service.app.callback(), { host, port: settings.PORT, keepAliveMs });
    probes.ready(surroundings.isReady);
    return {
      ...{ name, notice },
      url: `http://${host}:${parts.front.port}`,
      internalUrl: `http://${host}:${parts.internal.port}`,
      stop: () => stopParts(parts, delayMs),
    };
  } catch (error) {
    await stopParts(parts, 0).catch(() => {});
    throw error;
  }
}

function offer(
  { name, callers }: Pick<ServiceDefinition, 'name' | 'callers'>,
  { operations }: ComposedService,
  secrets: Readonly<Record<string, readonly Uint8Array[]>>,
  log: Logger,
) {
  if (!operations) return undefined;
  return serveOperations({
    offer: { service: name, operations, callers },
    checkCaller: createCallerCheck(name, secrets),
    log: log.child({ service: name }),
  });
}
