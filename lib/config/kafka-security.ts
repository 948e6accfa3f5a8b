import { str } from 'envalid';
import { keyFile, pemFile } from '#lib/config/address-validators.ts';
import { readSecretFile } from '#lib/config/secret-files.ts';
import type { Settings } from '#lib/config/settings.ts';
import { flag, saslMechanism } from '#lib/config/validators.ts';
import { StartupError } from '#lib/errors/fail.ts';

/** How to connect to the brokers, beside their addresses (docs/operations.md, "Settings"). */
export const kafkaSpecs = {
  KAFKA_TLS: flag({ default: false }),
  KAFKA_CA: pemFile({ default: undefined }),
  KAFKA_CERT: pemFile({ default: undefined }),
  KAFKA_KEY: keyFile({ default: undefined }),
  KAFKA_SASL: saslMechanism({ default: undefined }),
  KAFKA_USER: str({ default: undefined }),
};

type Read = Pick<Settings<typeof kafkaSpecs>, keyof typeof kafkaSpecs>;

/** TLS and authentication of connections to Kafka. */
export interface KafkaSecurity {
  tls?: { ca?: string | undefined; cert?: string | undefined; key?: string | undefined };
  sasl?: { mechanism: 'scram-sha-256' | 'scram-sha-512'; username: string; password: string };
}

/** Checks that the settings fit each other. @returns one sentence per fault. */
export function checkKafkaSettings(read: Read): string[] {
  const faults: string[] = [];
  if (!read.KAFKA_TLS && (read.KAFKA_CA || read.KAFKA_CERT || read.KAFKA_KEY))
    faults.push('KAFKA_TLS: must be true, because certificates are set');
  if (Boolean(read.KAFKA_CERT) !== Boolean(read.KAFKA_KEY))
    faults.push('KAFKA_CERT: a client certificate requires both KAFKA_CERT and KAFKA_KEY');
  if (Boolean(read.KAFKA_SASL) !== Boolean(read.KAFKA_USER))
    faults.push('KAFKA_SASL: SASL requires both KAFKA_SASL and KAFKA_USER');
  return faults;
}

/**
 * Completes the settings with the password of KAFKA_USER, the secret `kafka-password`.
 * @throws StartupError if there is no such secret.
 */
export async function readKafkaSecurity(read: Read, secretsDir: string | undefined): Promise<KafkaSecurity> {
  const { KAFKA_SASL: mechanism, KAFKA_USER: username } = read;
  const tls = { ca: read.KAFKA_CA, cert: read.KAFKA_CERT, key: read.KAFKA_KEY };
  const security: KafkaSecurity = read.KAFKA_TLS ? { tls } : {};
  if (!mechanism || !username) return security;
  const [password] = (secretsDir && (await readSecretFile(secretsDir, 'kafka-password'))) || [];
  if (!password)
    throw new StartupError(
      'The password of KAFKA_USER is missing: write it into the file kafka-password in SECRETS_DIR.',
    );
  return { ...security, sasl: { mechanism, username, password } };
}
