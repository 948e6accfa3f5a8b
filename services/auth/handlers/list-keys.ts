import { readCursor, readLimit, uuidPattern, writeCursor } from '#lib/http/cursor.ts';
import type { Handler } from '#lib/http/operation.ts';
import { presentKey } from '../presenters/present-key.ts';
import { listKeys } from '../queries/api-keys.ts';
import type { Dependencies } from './dependencies.ts';

/** GET /keys: a bare array, the next page in Link (docs/interface.md, "Lists"). */
export function listKeysHandler({ db, baseUrl }: Dependencies): Handler {
  return async (ctx, { query }) => {
    const limit = readLimit(query.limit);
    const found = await listKeys(db, { after: readCursor(query.cursor, uuidPattern), limit: limit + 1 });
    const page = found.slice(0, limit);
    const last = page.at(-1);
    if (found.length > limit && last) {
      const cursor = writeCursor({ createdAt: last.position, id: last.id });
      ctx.set('Link', `<${baseUrl}/keys?cursor=${cursor}&limit=${limit}>; rel="next"`);
    }
    ctx.body = page.map(presentKey);
  };
}
