import { createRepeatedWork, type RepeatedWork } from '#lib/async/repeated-work.ts';
import type { Database } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { PeerClient } from '../client/peer-client.ts';
import { listUnawareOfKey, markKeyKnown } from '../queries/peer-keys.ts';

const everyMs = 60_000;

/**
 * Announces our current signing key until each peer has accepted a request signed with it: the unknown key
 * makes the peer fetch our self-description with all current keys. @param kid thumbprint of the key.
 */
export function createKeyAnnouncer({
  db,
  client,
  kid,
  log,
}: {
  db: Database;
  client: Pick<PeerClient, 'send'>;
  kid: string;
  log: Logger;
}): RepeatedWork {
  async function announce({ id, url }: { id: string; url: string }): Promise<void> {
    try {
      const { status } = await client.send({ method: 'POST', url, path: '/federation/ping' });
      if (status === 204) await markKeyKnown(db, id, kid);
      else log.warn('a peer rejected our current signing key; retried in a minute', { id, status });
    } catch (error) {
      log.warn('failed to announce our current signing key to a peer; retried in a minute', { id, error });
    }
  }

  return createRepeatedWork({
    everyMs,
    work: async () => Promise.all((await listUnawareOfKey(db, kid)).map(announce)),
    onError: (error) => log.warn('failed to announce our signing key; retried in a minute', { error }),
  });
}
