import type Koa from 'koa';
import type { Secrets } from '#lib/config/secrets.ts';
import type { Settings } from '#lib/config/settings.ts';
import type { ProcessSettings } from '#lib/config/specs.ts';
import type { InternalOperations } from '#lib/contracts/operations.ts';
import type { Database } from '#lib/db/database.ts';
import type { Runtime } from '#lib/runtime/create-runtime.ts';

/** Settings of a service's own, as envalid takes them. */
// biome-ignore lint/suspicious/noExplicitAny: a specification is of any type, and what is read from it is typed.
export type Specs = Record<string, any>;

/** What a service is given, in either way of running. */
export interface Given<S extends Specs, Name extends keyof Secrets> {
  /** What it shares with the other services of its process. */
  shared: Runtime;
  db: Database;
  settings: ProcessSettings & Settings<S>;
  secrets: Pick<Secrets, Name>;
  /** All services are in one process, on a machine of its own. */
  standalone: boolean;
  /** The demonstration is wanted; in one process alone. */
  demo: boolean;
  /** The operations of another service; they may be used once all services have been composed. */
  connect<Service extends keyof InternalOperations>(service: Service): InternalOperations[Service];
}

/** A service, wired. */
export interface ComposedService {
  app: Koa;
  /** The paths that it serves, and all below them. */
  prefixes: readonly string[];
  /** What others may ask of it. */
  operations?: object;
  /** @returns a line that whoever started the process has to read, if any. */
  start(): Promise<string | undefined> | Promise<void>;
  /** Ends work in the background, and sends what is still in the outbox. */
  stop(): Promise<void>;
}

/** A service as processes see it: what it needs, and how it is composed. Both ways of running use it. */
export interface ServiceDefinition<S extends Specs = Specs, Name extends keyof Secrets = keyof Secrets> {
  /** Also of its schema, and of its tag in the contract. */
  name: string;
  /** Folder of its migrations. */
  migrations: URL;
  specs: S;
  /** Rules over several of its settings: one sentence per fault. @param baseUrl undefined where it is not known yet. */
  check?(settings: ProcessSettings & Settings<S>, baseUrl: string | undefined): string[];
  secrets: readonly Name[];
  /** Services whose operations it uses when each is a process. */
  calls: readonly (keyof InternalOperations)[];
  /** Which services may use each of its own operations (architecture.md, "Services"). */
  callers: Readonly<Record<string, readonly string[]>>;
  compose(given: Given<S, Name>): Promise<ComposedService>;
}

/** Types a definition by its own settings and secrets. */
export function defineService<S extends Specs, const Name extends keyof Secrets>(
  definition: ServiceDefinition<S, Name>,
): ServiceDefinition<S, Name> {
  return definition;
}
