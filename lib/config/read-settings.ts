import { type CleanedEnv, customCleanEnv, EnvMissingError } from 'envalid';
import { StartupError } from '#lib/errors/startup-error.ts';

type Environment = Record<string, string | undefined>;

/** Every faulty setting of one start, reported together (docs/operations.md, "Settings"). */
export class SettingsError extends StartupError {
  readonly faults: string[];
  constructor(faults: string[]) {
    super(`These settings are not valid:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

/**
 * Reads settings once, typed and frozen. An empty value counts as absent.
 * @param check rules over several settings; returns one sentence per fault. It runs in any case: what a rule is about must be `sound`.
 * @throws SettingsError that names every faulty setting.
 */
export function readSettings<S extends Parameters<typeof customCleanEnv>[1]>(
  environment: Environment,
  specs: S,
  check: (settings: Settings<S>, sound: (...names: (keyof S)[]) => boolean) => string[] = () => [],
): Settings<S> {
  const given = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const faults: string[] = [];
  const faulty = new Set<PropertyKey>();
  const settings = customCleanEnv(given, specs, (cleaned) => Object.freeze({ ...cleaned }), {
    reporter: ({ errors }) => {
      for (const [name, error] of Object.entries(errors as Record<string, Error>)) {
        faulty.add(name);
        faults.push(`${name}: ${error instanceof EnvMissingError ? 'is required' : error.message}`);
      }
    },
  }) as unknown as Settings<S>;
  faults.push(...check(settings, (...names) => names.every((name) => !faulty.has(name))));
  if (faults.length > 0) throw new SettingsError(faults);
  return settings;
}

/** The typed result for a set of envalid specs. */
export type Settings<S> = CleanedEnv<S>;
