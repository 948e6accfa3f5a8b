import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { createAuthority } from '../../infrastructure/cluster/certificates.ts';
import { query } from '../organisation.ts';
import { expectThat, type Scenario, type Stage, waitUntil } from '../scenario.ts';
import {
  changeKafkaUser,
  changeRedisUser,
  isClientAccepted,
  reloadCertificate,
  restartKafka,
  securedValues,
  secureStores,
  setSecret,
  trustClients,
  writeCertificate,
  writeClientCertificate,
} from '../secured-stores.ts';
import { expectEvents } from './another-kafka.ts';
import { withoutFailure } from './under-load.ts';

/** What protects the connections to PostgreSQL, Kafka and Redis. */
export const storeCredentialScenarios: Scenario[] = [
  {
    name: 'store credentials',
    promise:
      'With stores that demand TLS and passwords, the authority of PostgreSQL, Kafka and Redis and the client certificate for Kafka are renewed without a failed request; so are the passwords of the database owner, for Kafka and for Redis.',
    async run(stage) {
      const folder = path.dirname(stage.certificates);
      const [old, next] = ['store-authority', 'store-authority-next'].map((name) => path.join(folder, name));
      for (const authority of [old, next]) await createAuthority(authority as string);
      const first = await createUsers(stage, old as string);
      try {
        await stage.organisation.deploy(securedValues);
        const authorities = await withoutFailure(stage, () => renew(stage, old as string, next as string));
        await expectEvents(stage);
        const passwords = await withoutFailure(stage, () => rotate(stage, first));
        await expectEvents(stage);
        return `authority and client certificate: ${authorities}; passwords: ${passwords}`;
      } finally {
        await stage.organisation.deploy();
      }
    },
  },
];

const drawPassword = () => randomBytes(24).toString('hex');

/** @returns the first password for Redis. */
async function createUsers(stage: Stage, authority: string): Promise<string> {
  const { organisation } = stage;
  await secureStores(stage, authority);
  const [kafka, redis] = [drawPassword(), drawPassword()];
  await changeKafkaUser(organisation, 'accord', { password: kafka });
  await changeRedisUser(organisation, `>${redis}`);
  await setSecret(organisation, 'kafka-accord', { password: kafka });
  await setSecret(organisation, 'redis-accord', { password: redis });
  return redis;
}

/**
 * Services and Kafka trust both authorities, then the certificates of both sides change, then they trust the
 * new one only.
 */
async function renew(stage: Stage, old: string, next: string): Promise<void> {
  const { organisation } = stage;
  const [former, later] = await Promise.all([old, next].map((each) => readFile(`${each}/ca.crt`, 'utf8')));
  await setSecret(organisation, 'store-ca', { 'ca.crt': `${former}${later}` });
  await organisation.deploy(securedValues);
  await writeCertificate(organisation, next);
  await trustClients(organisation, old, next);
  await reloadCertificate(stage, next);
  await setSecret(organisation, 'store-ca', { 'ca.crt': later as string });
  await writeClientCertificate(organisation, next);
  await organisation.deploy(securedValues);
  await trustClients(organisation, next);
  await restartKafka(organisation);
  await waitUntil('Kafka accepts the new client certificate', () => isClientAccepted(organisation, next));
  expectThat(!(await isClientAccepted(organisation, old)), 'Kafka accepts the old client certificate');
}

/**
 * The owner has one password, which only the migration Job reads. Redis accepts two passwords of a user;
 * Kafka gets a second user.
 */
async function rotate(stage: Stage, formerRedis: string): Promise<void> {
  const { organisation } = stage;
  const [owner, kafka, redis] = [drawPassword(), drawPassword(), drawPassword()];
  await query(organisation, `ALTER ROLE accord PASSWORD '${owner}'`);
  await setSecret(organisation, 'trial-postgres', { password: owner });
  await changeKafkaUser(organisation, 'accord-2', { password: kafka });
  await setSecret(organisation, 'kafka-accord-2', { password: kafka });
  await changeRedisUser(organisation, `>${redis}`);
  await setSecret(organisation, 'redis-accord', { password: redis });
  const sasl = { ...securedValues.kafka.sasl, user: 'accord-2', existingSecret: 'kafka-accord-2' };
  await organisation.deploy({ ...securedValues, kafka: { ...securedValues.kafka, sasl } });
  await changeKafkaUser(organisation, 'accord', 'remove');
  await changeRedisUser(organisation, `<${formerRedis}`);
}
