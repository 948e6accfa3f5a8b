import { str } from 'envalid';
import {
  brokerList,
  databaseUrl,
  httpUrl,
  internalAddresses,
  issuerUrl,
  mailSender,
  mailUrl,
  networkList,
  originList,
  originUrl,
  pemFile,
  redisUrl,
} from '#lib/config/address-validators.ts';
import { checkKafkaSettings, kafkaSpecs } from '#lib/config/kafka-security.ts';
import type { Settings } from '#lib/config/settings.ts';
import { tracingSpecs } from '#lib/config/tracing-settings.ts';
import {
  calendarPeriod,
  flag,
  instanceName,
  languageTag,
  logLevel,
  rateLimits,
  replicaCount,
  seconds,
  tcpPort,
  timeZone,
  wholeNumber,
} from '#lib/config/validators.ts';
import { defaultRateLimits } from '#lib/http/rate-limits.ts';
import { isLoopback } from '#lib/text/host-name.ts';

/**
 * Thresholds above which requests wait and are then rejected with 503 (lib/http/admission.ts); 0 switches a
 * limit off. The defaults were measured with bench/overload.ts.
 */
const overloadSpecs = {
  /** Concurrent requests. */
  MAX_IN_FLIGHT: wholeNumber({ default: 64 }),
  /** Delay of the event loop in milliseconds. */
  MAX_EVENT_LOOP_DELAY: wholeNumber({ default: 500 }),
  /** Longest wait in the admission queue in milliseconds. */
  MAX_QUEUE_WAIT: wholeNumber({ default: 2_000 }),
};

/**
 * They pin what administrators otherwise set in the console (lib/config/instance-settings.ts, which also has
 * the defaults).
 */
const instanceSpecs = {
  INSTANCE_NAME: instanceName({ default: undefined }),
  INSTANCE_LANGUAGE: languageTag({ default: undefined }),
  INSTANCE_TIME_ZONE: timeZone({ default: undefined }),
  MAIL_FROM: mailSender({ default: undefined }),
  /** Age at which lines of the audit log are deleted (docs/audit.md). */
  AUDIT_RETENTION: calendarPeriod({ default: undefined }),
  /** Ages at which data are erased: answers that are over, and transactions without answers in force. */
  RECORD_RETENTION: calendarPeriod({ default: undefined }),
  ABANDONED_RETENTION: calendarPeriod({ default: undefined }),
  /** Age at which backups of the database are deleted (docs/erasure.md). */
  BACKUP_RETENTION: calendarPeriod({ default: undefined }),
};

/** Settings of every process (docs/operations.md, "Settings"). */
const commonSpecs = {
  HOST: str({ default: '127.0.0.1' }),
  PORT: tcpPort({ default: 8080 }),
  DEMO: flag({ default: undefined }),
  ...instanceSpecs,
  CORS_ORIGINS: originList({ default: [] }),
  TRUSTED_PROXIES: networkList({ default: [] }),
  RATE_LIMITS: rateLimits({ default: defaultRateLimits }),
  /** Replicas of a service: while Redis is down each replica allows its share of the rate limits. */
  REPLICAS: replicaCount({ default: 2 }),
  ...overloadSpecs,
  ...kafkaSpecs,
  ...tracingSpecs,
  /** CA of Redis, with rediss://; the public ones by default. */
  REDIS_CA: pemFile({ default: undefined }),
  LOG_LEVEL: logLevel({ default: 'warn' }),
};

/** One process with all services: DATABASE_URL, KAFKA_BROKERS and REDIS_URL each replace an embedded part. */
export const standaloneSpecs = {
  ...commonSpecs,
  BASE_URL: originUrl({ default: undefined }),
  DATA_DIR: str({ default: undefined }),
  DATABASE_URL: databaseUrl({ default: undefined }),
  KAFKA_BROKERS: brokerList({ default: undefined }),
  REDIS_URL: redisUrl({ default: undefined }),
  SECRETS_DIR: str({ default: undefined }),
  /** Without it, probes are on the public address. */
  INTERNAL_PORT: tcpPort({ default: undefined }),
  STOP_DELAY: seconds({ default: 0 }),
};

/** One service per process. */
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

/** The settings that both kinds of process have. */
export type ProcessSettings = Settings<typeof standaloneSpecs>;

const kafkaSettings = [
  'KAFKA_TLS',
  'KAFKA_CA',
  'KAFKA_CERT',
  'KAFKA_KEY',
  'KAFKA_SASL',
  'KAFKA_USER',
] as const;
/** The settings that `checkConnections` compares. */
export const connectionSettings = [...kafkaSettings, 'REDIS_URL', 'REDIS_CA'] as const;

/** Checks that settings of connections fit each other. @returns one sentence per fault. */
export function checkConnections(read: Pick<ProcessSettings, (typeof connectionSettings)[number]>): string[] {
  const faults = checkKafkaSettings(read);
  if (read.REDIS_CA && !read.REDIS_URL?.startsWith('rediss:'))
    faults.push('REDIS_CA: requires a REDIS_URL that begins with rediss://');
  return faults;
}

/** Addresses of the services that a service calls: `AUTH_INTERNAL_URL`, … */
export function neighbourSpecs(
  calls: readonly string[],
): Record<string, ReturnType<typeof internalAddresses>> {
  return Object.fromEntries(calls.map((service) => [neighbourSetting(service), internalAddresses()]));
}

export function neighbourSetting(service: string): string {
  return `${service.toUpperCase()}_INTERNAL_URL`;
}

/** Where people sign in (docs/operations.md, "Settings"). */
export const signInSpecs = {
  AUTH_URL: httpUrl({ default: undefined }),
  PASSWORD_GRANT: flag({ default: true }),
  OIDC_ISSUER: issuerUrl({ default: undefined }),
  /** Whether there is a console: pages lead staff to it. */
  CONSOLE: flag({ default: true }),
};

/** @param baseUrl the address of the instance, known once it listens. */
export function resolveSignIn(
  read: Settings<typeof signInSpecs>,
  baseUrl: string,
): { authUrl: string; hasPasswordGrant: boolean; consolePath: string | null } {
  return {
    consolePath: read.CONSOLE ? '/console' : null,
    authUrl: read.AUTH_URL ?? read.OIDC_ISSUER ?? `${baseUrl}/auth`,
    hasPasswordGrant: !read.OIDC_ISSUER && read.PASSWORD_GRANT,
  };
}

/** The mail server (docs/messages.md), of the services that send mails. */
export const mailSpecs = {
  MAIL_URL: mailUrl({ default: undefined }),
  MAIL_CA: pemFile({ default: undefined }),
};

/** The folder with messages of the organisation's own, of services with pages (docs/languages.md). */
export const localesSpecs = { LOCALES_DIR: str({ default: undefined }) };

/** Settings of services that call addresses chosen by others. */
export const outboundSpecs = {
  OUTBOUND_ALLOWED_NETWORKS: networkList({ default: undefined }),
};

/**
 * Private networks that may be called. Default: the loopback network in standalone mode on a loopback HOST,
 * which is a developer's machine; otherwise none, because remote clients must not reach services bound to
 * loopback.
 */
export function allowedNetworks(
  {
    OUTBOUND_ALLOWED_NETWORKS: set,
    HOST,
  }: { OUTBOUND_ALLOWED_NETWORKS: readonly string[] | undefined; HOST: string },
  standalone: boolean,
): readonly string[] {
  return set ?? (standalone && isLoopback(HOST) ? ['127.0.0.0/8', '::1/128'] : []);
}
