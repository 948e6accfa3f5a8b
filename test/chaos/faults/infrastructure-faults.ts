import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import type { IHeaders, KafkaMessage } from 'kafkajs';
import type { LocalServer } from '../../infrastructure/local-server.ts';
import type { TopicLog } from '../kafka/topic-log.ts';
import type { Random } from '../random.ts';
import { waitUntil } from '../wait-until.ts';
import type { Manner, WebhookReceiver } from '../world/webhook-receiver.ts';
import { atOnce, type Fault, formAndSubmit } from './fault.ts';

/** What happens to Kafka or Redis; what subjects do goes on. */
export function serverFaults(name: string, server: LocalServer): Fault[] {
  const broken = { breaks: name, promised: formAndSubmit };
  return [
    {
      ...broken,
      name: `${name} down`,
      lasts: [1_000, 10_000],
      async strike() {
        await server.kill();
        return server.launch;
      },
    },
    {
      ...broken,
      name: `${name} restarted`,
      lasts: atOnce,
      async strike() {
        await server.kill();
        return server.launch;
      },
    },
    {
      ...broken,
      name: `${name} paused`,
      lasts: [1_000, 10_000],
      async strike() {
        server.pause();
        return async () => server.resume();
      },
    },
  ];
}

/** What happens to Redis: it may go, and all that it holds. */
export function redisFaults(redis: LocalServer): Fault[] {
  return [
    ...serverFaults('Redis', redis),
    {
      name: 'Redis flushed',
      breaks: 'Redis',
      lasts: atOnce,
      promised: formAndSubmit,
      async strike() {
        await flush(new URL(redis.address));
        return async () => {};
      },
    },
  ];
}

async function flush({ hostname, port }: URL): Promise<void> {
  const socket = connect(Number(port), hostname);
  socket.write('FLUSHALL\r\n');
  const [reply] = (await once(socket, 'data')) as [Buffer];
  socket.destroy();
  if (!reply.toString().startsWith('+OK')) throw new Error(`FLUSHALL: ${reply}`);
}

const names: readonly (readonly [Manner, string])[] = [
  ['not at all', 'webhook receiver down'],
  ['slowly', 'webhook receiver slow'],
  ['wrongly', 'webhook receiver wrong'],
];

/** What happens to somebody else's endpoint; nobody else notices. */
export function webhookFaults(receiver: WebhookReceiver): Fault[] {
  return names.map(([manner, name]) => ({
    name,
    breaks: 'webhook receiver',
    lasts: [1_000, 6_000],
    promised: formAndSubmit,
    async strike() {
      await receiver.behave(manner);
      return () => receiver.behave('well');
    },
  }));
}

/** What has been done to a topic, for the checker. */
export interface TopicDeeds {
  /** Ids of poisonous messages. */
  poison: string[];
}

const breaks = 'Kafka';

/** What happens to events on their way. */
export function eventFaults({
  log,
  refill,
  deeds,
  random,
}: {
  log: TopicLog;
  /** Runs `npm run topics -- --refill`, as an operator does after the loss of a topic. */
  refill: () => Promise<void>;
  deeds: TopicDeeds;
  random: Random;
}): Fault[] {
  const fault = (name: string, act: () => Promise<void>): Fault => ({
    name,
    breaks,
    lasts: atOnce,
    promised: formAndSubmit,
    async strike() {
      await act();
      return async () => {};
    },
  });
  return [
    fault('events carried twice and in another order', async () => {
      const known = (await log.read()).slice(-200);
      await log.write(known.map(again).sort(() => random.between(0, 1) - 0.5));
    }),
    fault('poison among the events', async () => {
      const messages = poisons();
      deeds.poison.push(...messages.map(({ headers }) => headers.ce_id));
      await log.write(messages);
    }),
    fault('topic deleted, made again and refilled', async () => {
      await log.deleteAndMake();
      await waitUntil('the topic is refilled', () => refill().then(() => true));
    }),
  ];
}

function again({ key, value, headers }: KafkaMessage) {
  return { key: key?.toString() ?? null, value, headers: texts(headers) };
}

const texts = (headers: IHeaders = {}) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, value?.toString() ?? '']));

/** Messages that no repetition can help: each has an id, so that one can tell where it has gone. */
function poisons() {
  const headers = (type: string) => ({
    ce_specversion: '1.0',
    ce_id: randomUUID(),
    ce_type: type,
    ce_source: 'http://localhost',
    ce_subject: 'nothing',
    ce_time: new Date().toISOString(),
    'content-type': 'application/json',
  });
  const created = 'io.accord.consent.created.v1';
  return [
    { key: 'a', value: '{', headers: headers(created) },
    { key: 'b', value: null, headers: headers(created) },
    { key: 'c', value: '{}', headers: headers(created) },
    { key: 'd', value: '{"transaction":"x"}', headers: headers('io.accord.consent.created.v9') },
    { key: 'e', value: 'x'.repeat(100_000), headers: headers('nothing of ours') },
  ];
}
