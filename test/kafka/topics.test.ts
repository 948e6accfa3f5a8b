import { describe, expect, test } from 'vitest';
import { createTopics, readTopics, type WantedTopic } from '#lib/events/kafka/topics.ts';
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

  test.each(['--refil', '--refill accord.nothing', 'accord.consents'])(
    'rejects the arguments "%s" with its usage, and does nothing',
    async (args) => {
      const env = { KAFKA_BROKERS: '127.0.0.1:1' };
      const { code, errors } = await runCommand('services/topics.ts', args.split(' '), { env });
      expect({ code, errors }).toEqual({
        code: 1,
        errors: expect.stringContaining('Usage: npm run topics [-- --refill [<topic> …]].'),
      });
    },
  );

  test('says in a sentence when no broker answers', async () => {
    const env = { KAFKA_BROKERS: '127.0.0.1:1' };
    const { code, errors } = await runCommand('services/topics.ts', [], { env });
    expect(code).toBe(1);
    expect(errors).toContain('no broker of KAFKA_BROKERS responded correctly');
  });
});
