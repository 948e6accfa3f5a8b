import { str } from 'envalid';
import {
  brokerList,
  internalAddresses,
  redisUrl,
  replicaCount,
  seconds,
} from '#lib/config/network-validators.ts';
import { overloadSpecs } from '#lib/config/overload-specs.ts';
import type { Settings } from '#lib/config/read-settings.ts';
import {
  databaseUrl, flag, instanceName, languageTag, logLevel, networkList, originList, originUrl, rateLimits, tcpPort, timeZone,
} from '#lib/config/validators.ts'; // biome-ignore format: one glance
import { defaultRateLimits } from '#lib/http/rate-limits.ts';

/** Settings of every process, whichever services run in it (docs/operations.md, "Settings"). */
const commonSpecs = {
  HOST: str({ default: '127.0.0.1' }),
  PORT: tcpPort({ default: 8080 }),
  DEMO: flag({ default: undefined }),
  INSTANCE_NAME: instanceName({ default: 'Accord' }),
  INSTANCE_LANGUAGE: languageTag({ default: 'en' }),
  INSTANCE_TIME_ZONE: timeZone({ default: 'UTC' }),
  CORS_ORIGINS: originList({ default: [] }),
  TRUSTED_PROXIES: networkList({ default: [] }),
  RATE_LIMITS: rateLimits({ default: defaultRateLimits }),
  /** How many of a service run: while Redis is away each allows its part of the limits. */
  REPLICAS: replicaCount({ default: 2 }),
  ...overloadSpecs,
  LOG_LEVEL: logLevel({ default: 'warn' }),
};

/** All services in one process: each of DATABASE_URL, KAFKA_BROKERS and REDIS_URL replaces one embedded part. */
export const standaloneSpecs = {
  ...commonSpecs,
  BASE_URL: originUrl({ default: undefined }),
  DATA_DIR: str({ default: undefined }),
  DATABASE_URL: databaseUrl({ default: undefined }),
  KAFKA_BROKERS: brokerList({ default: undefined }),
  REDIS_URL: redisUrl({ default: undefined }),
  SECRETS_DIR: str({ default: undefined }),
  /** Without it there is no internal port: probes are on the front address. */
  INTERNAL_PORT: tcpPort({ default: undefined }),
  STOP_DELAY: seconds({ default: 0 }),
};

/** One service in a process of its own: it brings nothing along. */
export const serviceSpecs = {
  ...commonSpecs,
  BASE_URL: originUrl(),
  DATABASE_URL: databaseUrl(),
  KAFKA_BROKERS: brokerList(),
  REDIS_URL: redisUrl(),
  SECRETS_DIR: str(),
  INTERNAL_PORT: tcpPort({ default: 8081 }),
  STOP_DELAY: seconds({ default: 5_000 }),
};

/** What both kinds of process know of themselves. */
export type ProcessSettings = Settings<typeof standaloneSpecs>;

/** Where the services are that a service calls: `AUTH_INTERNAL_URL`, …; without them where it finds them by name. */
export function neighbourSpecs(
  calls: readonly string[],
): Record<string, ReturnType<typeof internalAddresses>> {
  return Object.fromEntries(calls.map((service) => [neighbourSetting(service), internalAddresses()]));
}

/** The name of the setting. */
export function neighbourSetting(service: string): string {
  return `${service.toUpperCase()}_INTERNAL_URL`;
}
