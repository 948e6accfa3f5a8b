import type Koa from 'koa';
import type { Secrets } from '#lib/config/secrets.ts';
import type { Settings } from '#lib/config/settings.ts';
import type { ProcessSettings } from '#lib/config/specs.ts';
import type { InternalOperations } from '#lib/contracts/operations.ts';
import type { Database } from '#lib/db/database.ts';
import type { ServiceSchema } from '#lib/db/schema-versions.ts';
import type { Runtime } from '#lib/runtime/create-runtime.ts';

/** The settings of a service as specifications of envalid. */
// biome-ignore lint/suspicious/noExplicitAny: specifications have different types; the values read are typed.
export type Specs = Record<string, any>;

/** What a service is composed from, in both modes. */
export interface Given<S extends Specs, Name extends keyof Secrets> {
  shared: Runtime;
  db: Database;
  settings: ProcessSettings & Settings<S>;
  secrets: Pick<Secrets, Name>;
  /** Whether all services run in one process. */
  standalone: boolean;
  /** Whether to create the demonstration; standalone mode only. */
  demo: boolean;
  /** The operations of another service; usable once all services are composed. */
  connect<Service extends keyof InternalOperations>(service: Service): InternalOperations[Service];
}

/** A composed service. */
export interface ComposedService {
  app: Koa;
  /** The paths it serves, with everything below them. */
  prefixes: readonly string[];
  /** Operations for other services. */
  operations?: object;
  /** @returns a line for the operator, if any. */
  start(): Promise<string | undefined> | Promise<void>;
  /** Stops background work and drains the outbox. */
  stop(): Promise<void>;
}

/** Describes a service for both modes: its needs and how it is composed. */
export interface ServiceDefinition<S extends Specs = Specs, Name extends keyof Secrets = keyof Secrets>
  extends ServiceSchema {
  /** Also the name of its schema and its tag in openapi.yaml. */
  name: string;
  specs: S;
  /**
   * Checks rules over several settings. @returns a sentence per fault. @param baseUrl undefined if not known
   * yet.
   */
  check?(settings: ProcessSettings & Settings<S>, baseUrl: string | undefined): string[];
  secrets: readonly Name[];
  /** Services whose operations it calls. */
  calls: readonly (keyof InternalOperations)[];
  /** The services that may call each of its own operations. */
  callers: Readonly<Record<string, readonly string[]>>;
  /** Loads its code. Programs that need to know only what a service needs do without. */
  load(): Promise<ServiceCode<S, Name>>;
}

/** The code of a service. */
export interface ServiceCode<S extends Specs = Specs, Name extends keyof Secrets = keyof Secrets> {
  /** Loads all templates of its pages, if it has pages. The image is built with the compiled templates. */
  loadPages?(): void;
  compose(given: Given<S, Name>): Promise<ComposedService>;
}

/** Infers the type of a definition from its settings and secrets. */
export function defineService<S extends Specs, const Name extends keyof Secrets>(
  definition: ServiceDefinition<S, Name>,
): ServiceDefinition<S, Name> {
  return definition;
}
