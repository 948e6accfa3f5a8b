import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import type { Database } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { PeerClient } from '../client/peer-client.ts';
import { listBehind, markKnown } from '../queries/known-keys.ts';

const everyMs = 60_000;

/**
 * Shows peers our newest signing key until they take it: a request that it has signed makes them look for new keys, and so they also learn
 * the new key to seal to (federation.md, "Trust"). Without it a peer that we have nothing to say to would go on sealing to the old one.
 */
export function createKeyShower({
  db,
  client,
  kid,
  log,
}: {
  db: Database;
  client: Pick<PeerClient, 'send'>;
  /** The thumbprint of the key that signs. */
  kid: string;
  log: Logger;
}): RepeatedWork {
  async function show({ id, url }: { id: string; url: string }): Promise<void> {
    try {
      const { status } = await client.send({ method: 'POST', url, path: '/federation/ping' });
      if (status === 204) await markKnown(db, id, kid);
      else log.warn('a peer does not know our newest key yet', { id, status });
    } catch (error) {
      log.warn('a peer could not be shown our newest key', { id, error });
    }
  }

  const showing = createRepeatedWork({
    everyMs,
    work: async () => Promise.all((await listBehind(db, kid)).map(show)),
    onError: (error) => log.warn('peers are shown our newest key later', { error }),
  });
  return {
    ...showing,
    start() {
      showing.start();
      void showing.runOnce();
    },
  };
}
