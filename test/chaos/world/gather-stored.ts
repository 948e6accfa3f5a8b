import { countWaiting, endWaits, readStored, type Stored } from '../check/stored.ts';
import { subjectPrefix } from '../load/ways.ts';
import { waitUntil } from '../wait-until.ts';

/** Waits until every event is sent, and reads what is stored. @param url of a superuser. @param patienceMs after which events count as never sent. */
export async function gatherStored(url: string, patienceMs = 10_000): Promise<Stored> {
  // They are over after half a minute, or up to twelve hours, otherwise.
  await endWaits(url);
  let waiting = 0;
  const allSent = async () => {
    waiting = await countWaiting(url);
    return waiting === 0;
  };
  // What is left after that is a breach.
  await waitUntil('every event is sent', allSent, {
    timeoutMs: patienceMs,
    progress: () => waiting,
  }).catch(() => {});
  return readStored(url, subjectPrefix);
}
