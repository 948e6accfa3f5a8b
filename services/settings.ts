import { readSettings, type Settings } from '#lib/config/settings.ts';
import { checkConnections, connectionSettings, standaloneSpecs } from '#lib/config/specs.ts';
import { isLoopback } from '#lib/text/host-name.ts';
import { authSpecs, checkAuthSettings } from './auth/config.ts';
import { consoleSpecs } from './console/config.ts';
import { checkFormsSettings, formsSpecs } from './forms/config.ts';
import { peersSpecs } from './peers/config.ts';
import { transactionsSpecs } from './transactions/config.ts';

/** The settings of an instance and their defaults in standalone mode (docs/operations.md, "Settings"). */
const specs = {
  ...standaloneSpecs,
  ...authSpecs,
  ...formsSpecs,
  ...transactionsSpecs,
  ...peersSpecs,
  ...consoleSpecs,
};

export type InstanceSettings = Settings<typeof specs> & { demo: boolean };

/** Reads every setting of standalone mode. @throws SettingsError naming all faults. */
export function readInstanceSettings(environment: Record<string, string | undefined>): InstanceSettings {
  const settings = readSettings(environment, specs, (read, sound) => {
    const faults: string[] = [];
    const baseUrl = read.BASE_URL ?? (read.PORT === 0 ? undefined : `http://localhost:${read.PORT}`);
    if (sound('AUTH_URL', 'BASE_URL', 'OIDC_ISSUER', 'PORT'))
      faults.push(...checkAuthSettings(read, baseUrl));
    faults.push(...checkFormsSettings(read));
    if (sound(...connectionSettings)) faults.push(...checkConnections(read));
    if (read.DEMO && !isLoopback(read.HOST))
      faults.push(
        `DEMO: the passwords of demo accounts are public, so DEMO=true requires a loopback HOST (it is "${read.HOST}")`,
      );
    if (read.DEMO && read.KAFKA_BROKERS) faults.push('DEMO: DEMO=true cannot be combined with KAFKA_BROKERS');
    // Services that share a setting say the same of it.
    return [...new Set(faults)];
  });
  const demo = settings.DEMO ?? (isLoopback(settings.HOST) && settings.KAFKA_BROKERS === undefined);
  return { ...settings, demo };
}
