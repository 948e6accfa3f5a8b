import pg from 'pg';
import type { CarriedEvent, Evidence } from '../check/evidence.ts';
import { countWaiting, endWaits, findDeadLetters, readStored, type Stored } from '../check/stored.ts';
import type { TopicDeeds } from '../faults/infrastructure-faults.ts';
import { carriedEvents, type TopicLog } from '../kafka/topic-log.ts';
import { subjectPrefix } from '../load/load.ts';
import { waitUntil } from '../wait-until.ts';
import type { ServiceProcess } from './service-process.ts';
import type { WebhookReceiver } from './webhook-receiver.ts';

/** How often waits are ended: an attempt that began before may fail after it, and waits again. */
const mostRounds = 5;

/**
 * Waits until every event and message is sent, and reads what is stored. @param url of a superuser.
 * @param patienceMs after which the waits before another attempt are ended once more; what is left after
 * five rounds counts as never sent.
 */
export async function gatherStored(url: string, patienceMs = 10_000): Promise<Stored> {
  let waiting = 0;
  const allIsSent = async () => {
    waiting = await countWaiting(url);
    return waiting === 0;
  };
  for (let round = 0; round < mostRounds; round++) {
    // They are over after half a minute, or up to twelve hours, otherwise.
    await endWaits(url);
    await waitUntil('every event and message is sent', allIsSent, {
      timeoutMs: patienceMs,
      progress: () => waiting,
    }).catch(() => {});
    if (waiting === 0) break;
  }
  return readStored(url, subjectPrefix);
}

interface Options {
  stored: Stored;
  deeds: TopicDeeds;
  log: TopicLog;
  receiver: WebhookReceiver;
  /** Of a superuser. */
  directUrl: string;
  /**
   * After which a webhook that was not called never will be: consumers come back some seconds after Kafka has
   * been away, and a lost topic is refilled by a command that waits for 20 s.
   */
  patienceMs?: number;
}

/**
 * What the topic has, which is refilled after a loss, and what the webhook got, when all that was
 * under way has arrived.
 */
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
  // The events of a refill late in a long run take their time.
  await waitUntil('the topic has every event', allWereCarried, {
    timeoutMs: patienceMs,
    everyMs: 500,
    progress: () => carried.length,
  }).catch(() => {});
  await waitUntil('the webhook has every event', everybodyWasCalled, {
    timeoutMs: patienceMs,
    everyMs: 200,
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

/**
 * More than a process ever needs that has nothing to do: its pool, its neighbours, Kafka, and connections
 * that are kept for the next request.
 */
const mostOpenFiles = 128;
/**
 * Less than a container may use (512 MiB, forms 768: helm/values.yaml). A process that renders PDFs keeps
 * fonts and the typesetter, and grows to 400 MiB and more while V8 optimises their code (ADR 21).
 */
const mostMegabytes = (service: string) => (service === 'forms' || service === 'accord' ? 704 : 448);
/** Connections and memory are given back in a while. */
const patienceMs = 15_000;

/**
 * What processes hold that have nothing to do any more (I9). @param url of a superuser. @returns one sentence
 * each.
 */
export async function findLeaks(url: string, services: readonly ServiceProcess[]): Promise<string[]> {
  let leaks: string[] = [];
  const none = async () => {
    leaks = [...(await openTransactions(url)), ...(await Promise.all(services.map(leaksOf))).flat()];
    return leaks.length === 0;
  };
  await waitUntil('nothing is held', none, { timeoutMs: patienceMs, everyMs: 500 }).catch(() => {});
  return leaks;
}

async function leaksOf({ name, service, openFiles, residentMegabytes }: ServiceProcess): Promise<string[]> {
  const [files, megabytes] = await Promise.all([openFiles(), residentMegabytes()]);
  return [
    ...(files > mostOpenFiles ? [`${name} holds ${files} files and sockets`] : []),
    ...(megabytes > mostMegabytes(service) ? [`${name} holds ${megabytes} MB of memory`] : []),
  ];
}

async function openTransactions(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const { rows } = await client.query(
      "SELECT a.application_name AS name FROM pg_stat_activity AS a WHERE a.state LIKE 'idle in transaction%'",
    );
    return rows.map(({ name }) => `${name} has left a transaction open`);
  } finally {
    await client.end();
  }
}
