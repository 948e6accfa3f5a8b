import { createRepeatedWork } from '#lib/async/repeated-work.ts';
import { type Throttle, throttle } from '#lib/async/timing.ts';
import type { Dependencies } from '../commands/dependencies.ts';
import { type InformedPeer, listPaired } from '../queries/catalogues.ts';
import { markKeyKnown } from '../queries/peer-keys.ts';

interface Options extends Pick<Dependencies, 'db' | 'log'> {
  client: Pick<Dependencies['client'], 'send'>;
  forms: Pick<Dependencies['forms'], 'sharedEntries'>;
  /** Thumbprint of our current signing key. */
  kid: string;
}

const pingMs = 1_000;
const keyMs = 60_000;

/**
 * Pings a peer in two cases: if our catalogue for this peer has changed since the peer last received it, and
 * every minute while the peer has not accepted a request signed with our current key. Then the unknown key
 * makes the peer fetch our self-description with all current keys. A peer is pinged at most once a second,
 * and independently of other peers. Lost pings about the catalogue are not repeated: peers read it every
 * minute anyway.
 */
export function createAnnouncer({ db, client, forms, log, kid }: Options) {
  const pings = new Map<string, Throttle>();

  async function ping(id: string): Promise<void> {
    // The state is read again, because the peer may have read the catalogue meanwhile.
    const peer = (await listPaired(db)).find((each) => each.id === id);
    if (!peer) return;
    const { url, sentState: known, knownKid } = peer;
    const { state } = await forms.sharedEntries({ peer: id, after: '', known, limit: 1 });
    if (state === known && knownKid === kid) return;
    const { status } = await client.send({ method: 'POST', url, path: '/federation/ping' });
    if (status !== 204) log.warn('a peer rejected a ping', { id, status });
    else if (knownKid !== kid) await markKeyKnown(db, id, kid);
  }

  async function pingAll(isChosen: (peer: InformedPeer) => boolean): Promise<void> {
    for (const { id } of (await listPaired(db)).filter(isChosen)) {
      const onError = (error: unknown) => log.warn('failed to ping a peer', { id, error });
      const throttled = pings.get(id) ?? throttle(pingMs, () => ping(id).catch(onError));
      pings.set(id, throttled);
      throttled.run();
    }
  }

  const onError = (error: unknown) => log.warn('failed to list peers for pings', { error });
  const all = throttle(pingMs, () => pingAll(() => true).catch(onError));
  const keys = createRepeatedWork({
    everyMs: keyMs,
    work: () => pingAll(({ knownKid }) => knownKid !== kid),
    onError,
  });
  return {
    ...keys,
    /** Call after any change of our models. */
    announce: all.run,
    async stop(): Promise<void> {
      await keys.stop();
      for (const { stop } of [all, ...pings.values()]) stop();
    },
  };
}
