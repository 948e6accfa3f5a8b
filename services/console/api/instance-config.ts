import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import type { GivenSettings } from '#lib/config/instance-settings.ts';
import type { StoredSettings } from '#lib/runtime/live-settings.ts';

const rememberMs = 60_000;
const rereadMs = 5_000;
const timeoutMs = 3_000;

/** What the console needs of GET /system/config. */
type InstanceConfig = { features: readonly string[] } & Pick<
  GivenSettings,
  'name' | 'language' | 'timeZone' | 'logo'
>;

/** What the API says of the instance. */
export interface KnownConfig {
  /** Decides what the navigation shows. @returns undefined while the API does not tell. */
  features(): Promise<readonly string[] | undefined>;
  /**
   * Takes over the settings of the instance every five seconds. For a console in a process of its own, which
   * learns them as every client of the API does.
   */
  following: RepeatedWork;
}

/** @param accept takes over the settings of the instance. */
export function knowConfig(apiUrl: string, accept: (stored: StoredSettings) => void): KnownConfig {
  let known: Promise<InstanceConfig | undefined> | undefined;
  let readAt = 0;
  let version = 0;
  const read = () => {
    readAt = Date.now();
    known = readConfig(apiUrl);
    return known;
  };
  return {
    async features() {
      const config = known && Date.now() - readAt <= rememberMs ? known : read();
      return (await config)?.features;
    },
    following: createRepeatedWork({
      everyMs: rereadMs,
      async work() {
        const config = await read();
        if (!config) return;
        const { name, language, timeZone, logo } = config;
        version += 1;
        accept({ version, settings: { name, language, timeZone, logo } });
      },
      onError: () => {},
    }),
  };
}

async function readConfig(apiUrl: string): Promise<InstanceConfig | undefined> {
  try {
    const response = await fetch(`${apiUrl}/system/config`, {
      headers: { Accept: 'application/json' },
      signal: AbortSignal.timeout(timeoutMs),
    });
    return response.ok ? ((await response.json()) as InstanceConfig) : undefined;
  } catch {
    return undefined;
  }
}
