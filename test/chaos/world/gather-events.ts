import type { Evidence } from '../check/evidence.ts';
import { readEventTimes, type Stored } from '../check/stored.ts';
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
  /** After which a webhook that was not called never will be. */
  patienceMs?: number;
}

/** What topics carried and what the webhook got, when all that was under way has arrived. */
export async function gatherEvents(
  options: Options,
): Promise<Pick<Evidence, 'carried' | 'gone' | 'received' | 'poison'>> {
  const { stored, deeds, log, receiver, directUrl, patienceMs = 60_000 } = options;
  const messages = [...deeds.deletions.flatMap(({ before }) => before), ...(await log.read())];
  const carried = carriedEvents(messages);
  const gone = await goneEvents(directUrl, deeds);
  const everybodyWasCalled = () => {
    const called = new Set(receiver.calls.filter(({ accepted }) => accepted).map(({ event }) => event.id));
    return stored.events.every(({ id }) => called.has(id) || gone.has(id));
  };
  // Who is missing then is told by the checker.
  await waitUntil('the webhook has every event', everybodyWasCalled, { timeoutMs: patienceMs }).catch(
    () => {},
  );
  return { carried, gone, received: receiver.calls, poison: deeds.poison };
}

/** Events that were written about when a topic was deleted: nobody can tell whether they were in it. */
async function goneEvents(directUrl: string, { deletions }: TopicDeeds): Promise<Set<string>> {
  if (deletions.length === 0) return new Set();
  const times = await readEventTimes(directUrl);
  return new Set(
    times.filter(({ at }) => deletions.some(({ from, to }) => at >= from && at <= to)).map(({ id }) => id),
  );
}
