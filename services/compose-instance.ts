import type { RequestListener } from 'node:http';
import type { Secrets } from '#lib/config/secrets.ts';
import type { InternalOperations } from '#lib/contracts/operations.ts';
import type { Logger } from '#lib/observability/logger.ts';
import { createRuntime, type OwnedRuntime } from '#lib/runtime/create-runtime.ts';
import type { ComposedService } from '#lib/runtime/service-definition.ts';
import { definitions } from './definitions.ts';
import type { InstanceSettings } from './settings.ts';

interface Options {
  settings: InstanceSettings;
  baseUrl: string;
  databaseUrl: string;
  secrets: Secrets;
  log: Logger;
}

/** All services in one process. */
export interface ComposedInstance {
  /** To be stopped after the services. */
  runtime: OwnedRuntime;
  handle: RequestListener;
  /** @returns lines for the operator. */
  start(): Promise<string[]>;
  /** Stops the services. */
  stop(): Promise<void>;
}

/** Composes all services. Each has its own pool and calls the others' operations directly. */
export async function composeInstance(options: Options): Promise<ComposedInstance> {
  const { settings, databaseUrl, secrets } = options;
  const runtime = await createRuntime({ ...options, name: 'accord', isDemo: settings.demo });
  const composed = new Map<string, ComposedService>();
  for (const { name, tables, load } of definitions) {
    const code = await load();
    const { db } = runtime.openDatabase(name, { url: databaseUrl });
    if (tables.includes('settings')) await runtime.followSettings(name, db);
    const service = await code.compose({
      settings,
      secrets,
      demo: settings.demo,
      standalone: true,
      shared: runtime.shared,
      db,
      connect: (neighbour) => operationsOf(composed, neighbour),
    });
    composed.set(name, service);
  }
  return {
    runtime,
    handle: routeByPrefix([...composed.values()]),
    async start() {
      runtime.start();
      const notices = [];
      for (const service of composed.values()) notices.push(await service.start());
      return notices.filter((notice) => typeof notice === 'string');
    },
    async stop() {
      for (const service of [...composed.values()].reverse()) await service.stop();
    },
  };
}

/** The operations themselves, without HTTP (ADR 2). */
function operationsOf<Service extends keyof InternalOperations>(
  composed: ReadonlyMap<string, ComposedService>,
  service: Service,
): InternalOperations[Service] {
  const operations = composed.get(service)?.operations;
  if (!operations) throw new Error(`${service} must be composed earlier`);
  return operations as InternalOperations[Service];
}

/**
 * Dispatches by path prefix, longest first, as the Ingress does in distributed mode.
 * `/user` covers `/user` and `/user/…`, not `/users`.
 */
function routeByPrefix(composed: readonly ComposedService[]): RequestListener {
  const routes = composed
    .flatMap(({ app, prefixes }) => {
      const handler = app.callback();
      return prefixes.map((prefix) => ({ prefix, handler }));
    })
    .sort((a, b) => b.prefix.length - a.prefix.length);
  return (request, response) => {
    const path = (request.url ?? '/').split('?', 1)[0] as string;
    const route = routes.find(
      ({ prefix }) => prefix === '/' || path === prefix || path.startsWith(`${prefix}/`),
    );
    if (route) return route.handler(request, response);
    response.writeHead(404).end();
  };
}
