import type { CarriedEvent, Evidence } from '../check/evidence.ts';
import type { Stored } from '../check/stored.ts';
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
  /** After which a webhook that was not called never will be. */
  patienceMs?: number;
}

/** What the topic has, which is filled again when it was lost, and what the webhook got, when all that was under way has arrived. */
export async function gatherEvents({
  stored,
  deeds,
  log,
  receiver,
  patienceMs = 30_000,
}: Options): Promise<Pick<Evidence, 'carried' | 'received' | 'poison'>> {
  let carried: CarriedEvent[] = [];
  const allWereCarried = async () => {
    carried = carriedEvents(await log.read());
    const ids = new Set(carried.map(({ id }) => id));
    return stored.events.every(({ id }) => ids.has(id));
  };
  const everybodyWasCalled = () => {
    const called = new Set(receiver.calls.filter(({ accepted }) => accepted).map(({ event }) => event.id));
    return stored.events.every(({ id }) => called.has(id));
  };
  // Who is missing then is told by the checker.
  await waitUntil('the topic has every event', allWereCarried, { timeoutMs: patienceMs, everyMs: 500 }).catch(
    () => {},
  );
  await waitUntil('the webhook has every event', everybodyWasCalled, { timeoutMs: patienceMs }).catch(
    () => {},
  );
  return { carried, received: receiver.calls, poison: deeds.poison };
}
