import { str } from 'envalid';
import { mailSender, mailUrl, senderList, smsUrl } from '#lib/config/message-validators.ts';
import { overloadSpecs } from '#lib/config/overload-specs.ts';
import { readSettings, type Settings } from '#lib/config/read-settings.ts';
import {
  databaseUrl, embedSources, flag, languageTag, logLevel, networkList, originList, originUrl, rateLimits, tcpPort, timeZone,
} from '#lib/config/validators.ts'; // biome-ignore format: one glance
import { defaultRateLimits } from '#lib/http/rate-limits.ts';
import { authSpecs, checkAuthSettings } from './auth/config.ts';

/** The settings of an instance and their defaults in standalone mode (decisions.md §12). */
const specs = {
  HOST: str({ default: '127.0.0.1' }),
  PORT: tcpPort({ default: 8080 }),
  BASE_URL: originUrl({ default: undefined }),
  ...authSpecs,
  DATA_DIR: str({ default: undefined }),
  DEMO: flag({ default: undefined }),
  DATABASE_URL: databaseUrl({ default: undefined }),
  KAFKA_BROKERS: str({ default: undefined }),
  REDIS_URL: str({ default: undefined }),
  INSTANCE_NAME: str({ default: 'Accord' }),
  INSTANCE_LANGUAGE: languageTag({ default: 'en' }),
  INSTANCE_TIME_ZONE: timeZone({ default: 'UTC' }),
  SECRETS_DIR: str({ default: undefined }),
  CORS_ORIGINS: originList({ default: [] }),
  EMBED_ORIGINS: embedSources({ default: 'https: http://localhost:* http://127.0.0.1:*' }),
  TRUSTED_PROXIES: networkList({ default: [] }),
  RATE_LIMITS: rateLimits({ default: defaultRateLimits }),
  ...overloadSpecs,
  // What these are for comes with peers, webhooks, mail and codes: a fault in them is told at once, not on that day.
  OUTBOUND_ALLOWED_NETWORKS: networkList({ default: ['127.0.0.0/8', '::1/128'] }),
  MAIL_URL: mailUrl({ default: 'log' }),
  MAIL_FROM: mailSender({ default: undefined }),
  MAIL_SENDERS: senderList({ default: undefined }),
  SMS_URL: smsUrl({ default: 'log' }),
  LOG_LEVEL: logLevel({ default: 'warn' }),
};

export type InstanceSettings = Settings<typeof specs> & { demo: boolean };

/** Reads every setting of standalone mode. @throws SettingsError naming all faults. */
export function readInstanceSettings(environment: Record<string, string | undefined>): InstanceSettings {
  const settings = readSettings(environment, specs, (read, sound) => {
    const faults: string[] = [];
    const baseUrl = read.BASE_URL ?? (read.PORT === 0 ? undefined : `http://localhost:${read.PORT}`);
    if (sound('AUTH_URL', 'BASE_URL', 'OIDC_ISSUER', 'PORT'))
      faults.push(...checkAuthSettings(read, baseUrl));
    if (read.DEMO && !isLoopback(read.HOST))
      faults.push(
        `DEMO: demo accounts are open to anyone who knows them, so DEMO=true needs a loopback HOST (it is "${read.HOST}")`,
      );
    for (const name of ['KAFKA_BROKERS', 'REDIS_URL'] as const)
      if (read[name])
        faults.push(
          `${name}: services as separate processes are not available in this version; leave it unset`,
        );
    return faults;
  });
  return { ...settings, demo: settings.DEMO ?? isLoopback(settings.HOST) };
}

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d+\.\d+\.\d+$/.test(host);
}
