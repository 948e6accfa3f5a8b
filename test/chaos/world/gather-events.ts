import type { CarriedEvent, Evidence } from '../check/evidence.ts';
import { findDeadLetters, type Stored } from '../check/stored.ts';
import type { TopicDeeds } from '../faults/event-faults.ts';
import { carriedEvents } from '../kafka/carried-events.ts';
import type { TopicLog } from '../kafka/topic-log.ts';
import { waitUntil } from '../wait-until.ts';
import type { WebhookReceiver } from './webhook-receiver.ts';

interface Options {
  stored: Stored;
  deeds: TopicDeeds;
  log: TopicLog;
  receiver: WebhookReceiver;
  /** Of a superuser. */
  directUrl: string;
  /** After which a webhook that was not called never will be: consumers come back some seconds after Kafka has been away, and a topic that was lost is filled again after 20 s. */
  patienceMs?: number;
}

/** What the topic has, which is filled again when it was lost, and what the webhook got, when all that was under way has arrived. */
export async function gatherEvents({
  stored,
  deeds,
  log,
  receiver,
  directUrl,
  patienceMs = 90_000,
}: Options): Promise<Pick<Evidence, 'carried' | 'received' | 'poison'>> {
  let carried: CarriedEvent[] = [];
  let poison: string[] = [];
  const allWereCarried = async () => {
    const messages = await log.read();
    carried = carriedEvents(messages);
    // A topic that was deleted may have taken some along.
    const inTopic = new Set(messages.map(({ headers }) => headers?.ce_id?.toString()));
    poison = deeds.poison.filter((id) => inTopic.has(id));
    const ids = new Set(carried.map(({ id }) => id));
    return stored.events.every(({ id }) => ids.has(id));
  };
  const everybodyWasCalled = () => {
    const called = new Set(receiver.calls.filter(({ accepted }) => accepted).map(({ event }) => event.id));
    return stored.events.every(({ id }) => called.has(id));
  };
  // Who is missing then is told by the checker.
  // A topic that was lost late in a long run takes its time to be filled again.
  await waitUntil('the topic has every event', allWereCarried, {
    ...{ timeoutMs: patienceMs, everyMs: 500 },
    progress: () => carried.length,
  }).catch(() => {});
  await waitUntil('the webhook has every event', everybodyWasCalled, {
    ...{ timeoutMs: patienceMs, everyMs: 200 },
    progress: () => receiver.calls.length,
  }).catch(() => {});
  const allIsParked = async () => {
    const parked = new Set(await findDeadLetters(directUrl));
    return poison.every((id) => parked.has(id));
  };
  await waitUntil('the poison is put aside', allIsParked, { timeoutMs: patienceMs, everyMs: 200 }).catch(
    () => {},
  );
  return { carried, received: receiver.calls, poison };
}
