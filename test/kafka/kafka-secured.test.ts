import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import {
  checkKafkaSettings,
  type KafkaSecurity,
  kafkaSpecs,
  readKafkaSecurity,
} from '#lib/config/kafka-security.ts';
import { readSettings } from '#lib/config/settings.ts';
import { createKafkaBus } from '#lib/events/kafka/kafka-bus.ts';
import { createTopics, readTopics } from '#lib/events/kafka/topics.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { startLocalKafka } from '../infrastructure/kafka.ts';
import { MissingInfrastructure } from '../infrastructure/programs.ts';
import { selfSignedCertificate } from '../support/network/self-signed-certificate.ts';
import { runCommand } from '../support/programs/run-command.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';
import { keyRevoked } from '../support/samples/sample-events.ts';
import { eventContract } from '../support/stores/event-bus.ts';
import { publishAll, testReader } from '../support/stores/event-bus-suite.ts';

const server = selfSignedCertificate(['localhost']);
const client = selfSignedCertificate(['accord']);
const stranger = selfSignedCertificate(['stranger']);
const demands = {
  certificate: server,
  clientCertificate: client.cert,
  user: 'accord',
  password: 'p%40ss:word',
};
const kafka = await startLocalKafka(demands).catch((error: unknown) => {
  if (!(error instanceof MissingInfrastructure) || process.env.CI === 'true') throw error;
  process.stderr.write(`${error.message}\n`);
  return null;
});
const brokers = [kafka?.address.replace('127.0.0.1', 'localhost') ?? ''];
const wanted = readTopics(new URL('../../asyncapi.yaml', import.meta.url));

/** The settings of a process, with their files. */
async function settingsWith({ cert, key } = client, password = demands.password) {
  const folder = await temporaryFolder();
  const files = {
    'ca.crt': server.cert,
    'client.crt': cert,
    'client.key': key,
    'kafka-password': `${password}\n`,
  };
  for (const [file, text] of Object.entries(files))
    await writeFile(path.join(folder, file), text, { mode: 0o600 });
  return {
    KAFKA_BROKERS: brokers.join(),
    KAFKA_TLS: 'true',
    KAFKA_CA: path.join(folder, 'ca.crt'),
    KAFKA_CERT: path.join(folder, 'client.crt'),
    KAFKA_KEY: path.join(folder, 'client.key'),
    KAFKA_SASL: 'SCRAM-SHA-512',
    KAFKA_USER: 'accord',
    SECRETS_DIR: folder,
  };
}

async function securityWith(...given: Parameters<typeof settingsWith>): Promise<KafkaSecurity> {
  const { SECRETS_DIR, ...environment } = await settingsWith(...given);
  return readKafkaSecurity(readSettings(environment, kafkaSpecs, checkKafkaSettings), SECRETS_DIR);
}

describe.runIf(kafka)('a Kafka that demands TLS, a client certificate and a password', () => {
  afterAll(() => kafka?.stop());

  it('gets its topics from npm run topics', async () => {
    const { code, output } = await runCommand('services/topics.ts', [], { env: await settingsWith() });
    expect(output).toContain(`All ${wanted.length} topics of asyncapi.yaml exist.`);
    expect(code).toBe(0);
  });

  it('transports events', async () => {
    const security = await securityWith();
    await createTopics({ brokers, security, wanted });
    const log = createLogger({ level: 'silent' });
    const bus = createKafkaBus({ brokers, security, clientId: 'test', contract: eventContract, log });
    const event = keyRevoked();
    const read = Promise.withResolvers<string>();
    bus.subscribe(event.topic, testReader({ shared: false }), async ({ id }) => read.resolve(id));
    bus.start();
    await bus.joined();
    await publishAll(bus, [event]);
    expect(await read.promise).toBe(event.event.id);
    await bus.stop();
  });

  it.each([
    ['another password', [client, 'wrong']],
    ['another client certificate', [stranger]],
  ] as [string, Parameters<typeof settingsWith>][])('refuses %s', async (_, given) => {
    const { code, errors } = await runCommand('services/topics.ts', [], {
      env: await settingsWith(...given),
    });
    expect(errors).toContain(
      'The topics could not be created: no broker of KAFKA_BROKERS responded correctly',
    );
    expect(errors).not.toContain(demands.password);
    expect(code).toBe(1);
  });

  it('is refused itself if its certificate is by another CA', async () => {
    const env = await settingsWith();
    await writeFile(env.KAFKA_CA, stranger.cert);
    expect((await runCommand('services/topics.ts', [], { env })).code).toBe(1);
  });
});
