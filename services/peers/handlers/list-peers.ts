import { readCursor, readLimit, uuidPattern, writeCursor } from '#lib/http/lists.ts';
import type { Handler } from '#lib/http/operation.ts';
import { presentPeer } from '../presenters/present-peer.ts';
import { listPeers } from '../queries/peers.ts';
import type { Dependencies } from './dependencies.ts';

/** GET /peers: a bare array, the next page in Link (docs/interface.md, "Lists"). */
export function listPeersHandler({ db, baseUrl }: Dependencies): Handler {
  return async (ctx, { query }) => {
    const limit = readLimit(query.limit);
    const found = await listPeers(db, { after: readCursor(query.cursor, uuidPattern), limit: limit + 1 });
    const page = found.slice(0, limit);
    const last = page.at(-1);
    if (found.length > limit && last) {
      const cursor = writeCursor({ createdAt: last.position, id: last.id });
      ctx.set('Link', `<${baseUrl}/peers?cursor=${cursor}&limit=${limit}>; rel="next"`);
    }
    ctx.body = page.map(presentPeer);
  };
}
