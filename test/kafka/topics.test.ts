import { describe, expect, test } from 'vitest';
import { createTopics, findMissingTopics, readTopics, type WantedTopic } from '#lib/events/kafka/topics.ts';
import { runCommand } from '../support/programs/run-command.ts';
import { brokers, withAdmin } from '../support/stores/kafka.ts';

const asyncApi = new URL('../../asyncapi.yaml', import.meta.url);

describe.skipIf(!brokers)('npm run topics', () => {
  const at = [brokers ?? ''];

  test('makes the topics of asyncapi.yaml with their partitions and retention', async () => {
    const { topics } = await withAdmin((admin) => admin.fetchTopicMetadata());
    const partitions = Object.fromEntries(topics.map(({ name, partitions: each }) => [name, each.length]));
    expect(partitions).toMatchObject({
      'accord.consents': 12,
      'accord.models': 12,
      'accord.keys': 1,
      'accord.peers': 1,
      'accord.heads': 1,
      'accord.settings': 1,
    });
    expect(await createTopics({ brokers: at, wanted: readTopics(asyncApi) })).toEqual({
      created: [],
      differences: [],
    });
  });

  test('makes what is missing, and tells what differs without changing it', async () => {
    const topic = `test.topics-${Date.now()}` as WantedTopic['topic'];
    const wanted = {
      topic,
      partitions: 2,
      settings: { 'cleanup.policy': 'delete', 'retention.ms': '604800000' },
    };
    expect((await createTopics({ brokers: at, wanted: [wanted] })).created).toEqual([topic]);
    const other = { topic, partitions: 3, settings: { 'cleanup.policy': 'compact' } };
    for (let time = 0; time < 2; time += 1)
      expect(await createTopics({ brokers: at, wanted: [other] })).toEqual({
        created: [],
        differences: [
          `${topic}: has 2 partitions, and should have 3`,
          `${topic}: cleanup.policy is delete, and should be compact`,
        ],
      });
  });

  test.each([
    '--refil',
    '--refill accord.nothing',
    'accord.consents',
    '--check --refill',
    '--check accord.keys',
  ])('rejects the arguments "%s" with its usage, and does nothing', async (args) => {
    const env = { KAFKA_BROKERS: '127.0.0.1:1' };
    const { code, errors } = await runCommand('services/topics.ts', args.split(' '), { env });
    expect({ code, errors }).toEqual({
      code: 1,
      errors: expect.stringContaining('Usage: npm run topics [-- --check | -- --refill [<topic> …]].'),
    });
  });

  test('--check creates nothing: it names what is missing, or says that everything is there', async () => {
    const topic = `test.unmade-${Date.now()}`;
    const wanted = [{ topic, partitions: 1, settings: {} }];
    for (let time = 0; time < 2; time += 1)
      expect(await findMissingTopics({ brokers: at, wanted })).toEqual([topic]);
    const { code, output } = await runCommand('services/topics.ts', ['--check'], {
      env: { KAFKA_BROKERS: brokers ?? '' },
    });
    expect({ code, output }).toMatchObject({
      code: 0,
      output: expect.stringContaining('topics of asyncapi.yaml exist'),
    });
  });

  test.each(['', '--check'])('says in a sentence when no broker answers (%s)', async (option) => {
    const env = { KAFKA_BROKERS: '127.0.0.1:1' };
    const { code, errors } = await runCommand('services/topics.ts', option ? [option] : [], { env });
    expect(code).toBe(1);
    expect(errors).toContain('no broker of KAFKA_BROKERS responded correctly');
  });
});
