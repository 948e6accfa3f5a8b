import {
  neighbourSetting,
  neighbourSpecs,
  type ProcessSettings,
  serviceSpecs,
} from '#lib/config/process-specs.ts';
import { readSettings, type Settings } from '#lib/config/read-settings.ts';

type Environment = Record<string, string | undefined>;

/** As far as settings go, what a service is. */
interface Service {
  name: string;
  // biome-ignore lint/suspicious/noExplicitAny: a specification is of any type, and what is read from it is typed.
  specs: Record<string, any>;
  check?(settings: never, baseUrl: string | undefined): string[];
  calls: readonly string[];
}

/** The settings of a service in a process of its own. */
export type ServiceSettings<S extends Service> = Settings<typeof serviceSpecs> & Settings<S['specs']>;

/**
 * Reads the settings of a service that is a process of its own, and where its neighbours are.
 * @throws SettingsError naming all faults.
 */
export function readServiceSettings<S extends Service>(
  service: S,
  environment: Environment,
): { settings: ServiceSettings<S> & ProcessSettings; addressesOf: (neighbour: string) => readonly string[] } {
  const specs = { ...serviceSpecs, ...service.specs, ...neighbourSpecs(service.calls) };
  const settings = readSettings(environment, specs, (read, sound) => {
    const own = [...Object.keys(service.specs), 'BASE_URL'] as (keyof typeof specs)[];
    // The service's own settings are among what was read; TypeScript does not see that through the generic type.
    const faults = sound(...own) ? (service.check?.(read as never, read.BASE_URL) ?? []) : [];
    if (read.DEMO)
      faults.push(
        'DEMO: demo accounts are open to anyone who knows them, so DEMO=true is for one process on one machine',
      );
    return faults;
  });
  return {
    settings: settings as unknown as ServiceSettings<S> & ProcessSettings,
    addressesOf: (neighbour) =>
      (settings as Record<string, unknown>)[neighbourSetting(neighbour)] as string[],
  };
}
