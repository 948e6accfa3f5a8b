import { type CleanedEnv, customCleanEnv, EnvMissingError } from 'envalid';
import {
  checkConnections,
  connectionSettings,
  neighbourSetting,
  neighbourSpecs,
  type ProcessSettings,
  serviceSpecs,
} from '#lib/config/specs.ts';
import { StartupError } from '#lib/errors/fail.ts';

type Environment = Record<string, string | undefined>;

/** All faulty settings of a start (docs/operations.md, "Settings"). */
export class SettingsError extends StartupError {
  readonly faults: string[];
  constructor(faults: string[]) {
    super(`These settings are not valid:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

/**
 * Reads settings once, typed and frozen. An empty value counts as absent.
 * @param check rules over several settings; returns one sentence per fault. It always runs: `sound` tells
 * whether the settings of a rule are valid by themselves.
 * @throws SettingsError that names every faulty setting.
 */
export function readSettings<S extends Parameters<typeof customCleanEnv>[1], Read = Settings<S>>(
  environment: Environment,
  specs: S,
  check: (settings: NoInfer<Read>, sound: (...names: (keyof S)[]) => boolean) => string[] = () => [],
): Read {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const faults: string[] = [];
  const faulty = new Set<PropertyKey>();
  // biome-ignore lint/plugin: `Read` is what the specifications say, or a name for it.
  const settings = customCleanEnv(given, specs, (cleaned) => Object.freeze({ ...cleaned }), {
    reporter: ({ errors }) => {
      for (const [name, error] of Object.entries(errors as Record<string, Error>)) {
        faulty.add(name);
        faults.push(`${name}: ${error instanceof EnvMissingError ? 'is required' : error.message}`);
      }
    },
  }) as unknown as Read;
  faults.push(...check(settings, (...names) => names.every((name) => !faulty.has(name))));
  if (faults.length > 0) throw new SettingsError(faults);
  return settings;
}

/** The typed result for a set of envalid specs. */
export type Settings<S> = CleanedEnv<S>;

/** The part of a service definition that settings depend on. */
interface Service {
  name: string;
  // biome-ignore lint/suspicious/noExplicitAny: specifications have different types; the values read are typed.
  specs: Record<string, any>;
  check?(settings: object, baseUrl: string | undefined): string[];
  calls: readonly string[];
}

/** Settings of a service that runs as a process of its own. */
export type ServiceSettings<S extends Service> = Settings<typeof serviceSpecs> & Settings<S['specs']>;

/**
 * Reads the settings of a service that runs as a process of its own, and the addresses of the services it
 * calls.
 * @throws SettingsError naming all faults.
 */
export function readServiceSettings<S extends Service>(
  service: S,
  environment: Environment,
): { settings: ServiceSettings<S> & ProcessSettings; addressesOf: (neighbour: string) => readonly string[] } {
  const specs = { ...serviceSpecs, ...service.specs, ...neighbourSpecs(service.calls) };
  type Read = ServiceSettings<S> & ProcessSettings;
  const settings = readSettings<typeof specs, Read>(environment, specs, (read, sound) => {
    const own = [...Object.keys(service.specs), 'BASE_URL'] as (keyof typeof specs)[];
    const faults = sound(...own) ? (service.check?.(read, read.BASE_URL) ?? []) : [];
    if (sound(...connectionSettings)) faults.push(...checkConnections(read));
    if (read.DEMO)
      faults.push('DEMO: allowed in standalone mode only, because the passwords of demo accounts are public');
    return faults;
  });
  return {
    settings,
    addressesOf: (neighbour) =>
      (settings as Record<string, unknown>)[neighbourSetting(neighbour)] as string[],
  };
}
