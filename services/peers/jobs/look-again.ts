import type { Database } from '#lib/db/database.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { PeerClient } from '../client/peer-client.ts';
import { refreshPeer } from '../commands/refresh-peer.ts';
import { claimDescription } from '../queries/key-changes.ts';
import { findPeerByUrl } from '../queries/peers.ts';

interface Parts {
  db: Database;
  client: PeerClient;
  log: Logger;
  atMostEverySeconds: number;
}

/**
 * Asks a known peer for its keys anew, because a message came with one that is not known, or because one that is known may be none any more:
 * only if nobody has asked it lately, so that nobody can have us ask it more often (federation.md, "Trust").
 * @returns whether it was asked and answered.
 */
export function createLookAgain({ atMostEverySeconds, ...parts }: Parts) {
  return async (url: string): Promise<boolean> => {
    const peer = await findPeerByUrl(parts.db, url);
    if (!peer || peer.state === 'ENDED') return false;
    if (!(await claimDescription(parts.db, peer.id, atMostEverySeconds))) return false;
    try {
      await refreshPeer(parts, peer);
      return true;
    } catch (error) {
      parts.log.warn('a peer could not be asked for its keys', { id: peer.id, error });
      return false;
    }
  };
}
