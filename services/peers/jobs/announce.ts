import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import { type Throttle, throttle } from '#lib/async/timing.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { PeerClient } from '../client/peer-client.ts';
import type { Dependencies } from '../commands/dependencies.ts';
import { listPaired } from '../queries/catalogues.ts';
import { listUnawareOfKey, markKeyKnown } from '../queries/peer-keys.ts';

type Pinging = Pick<Dependencies, 'db' | 'log'> & { client: Pick<PeerClient, 'send'> };

const everyMs = 1_000;
const ping = { method: 'POST', path: '/federation/ping' };

/**
 * Pings each peer whose catalogue has changed since the peer received it, at most once a second. Pings of
 * different peers are independent. Lost pings are not repeated: peers read the catalogue every minute anyway.
 */
export function createChangeAnnouncer({
  db,
  client,
  forms,
  log,
}: Pinging & { forms: Pick<FormsOperations, 'sharedEntries'> }) {
  const pings = new Map<string, Throttle>();

  async function pingIfChanged(id: string): Promise<void> {
    // The state is read again, because the peer may have read the catalogue meanwhile.
    const peer = (await listPaired(db)).find((each) => each.id === id);
    if (!peer) return;
    const { url, sentState: known } = peer;
    const { state } = await forms.sharedEntries({ peer: id, after: '', known, limit: 1 });
    if (state === known) return;
    const { status } = await client.send({ ...ping, url });
    if (status !== 204) log.warn('a peer rejected the catalogue ping; not retried', { id, status });
  }

  async function pingAll(): Promise<void> {
    for (const { id } of await listPaired(db)) {
      const onError = (error: unknown) => log.warn('catalogue ping failed; not retried', { id, error });
      const throttled = pings.get(id) ?? throttle(everyMs, () => pingIfChanged(id).catch(onError));
      pings.set(id, throttled);
      throttled.run();
    }
  }

  const onError = (error: unknown) => log.warn('failed to list peers for pings; not retried', { error });
  const all = throttle(everyMs, () => pingAll().catch(onError));
  return {
    /** Call after any change of our models. */
    announce: all.run,
    stop(): void {
      for (const { stop } of [all, ...pings.values()]) stop();
    },
  };
}

/**
 * Announces our current signing key until each peer has accepted a request signed with it: the unknown key
 * makes the peer fetch our self-description with all current keys. @param kid thumbprint of the key.
 */
export function createKeyAnnouncer({ db, client, log }: Pinging, kid: string): RepeatedWork {
  async function announce({ id, url }: { id: string; url: string }): Promise<void> {
    try {
      const { status } = await client.send({ ...ping, url });
      if (status === 204) await markKeyKnown(db, id, kid);
      else log.warn('a peer rejected our current signing key; retried in a minute', { id, status });
    } catch (error) {
      log.warn('failed to announce our current signing key to a peer; retried in a minute', { id, error });
    }
  }

  return createRepeatedWork({
    everyMs: 60_000,
    work: async () => Promise.all((await listUnawareOfKey(db, kid)).map(announce)),
    onError: (error) => log.warn('failed to announce our signing key; retried in a minute', { error }),
  });
}
