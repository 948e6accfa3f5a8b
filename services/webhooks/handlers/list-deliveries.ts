import { readCursor, readLimit, uuidPattern, writeCursor } from '#lib/http/cursor.ts';
import type { Handler } from '#lib/http/operation.ts';
import { noSuchWebhook } from '../commands/edit-webhook.ts';
import { presentDelivery } from '../presenters/present-delivery.ts';
import { listDeliveries } from '../queries/deliveries.ts';
import { findWebhook } from '../queries/webhooks.ts';
import { type Dependencies, readId } from './dependencies.ts';

/** GET /webhooks/{id}/deliveries: a bare array, newest first, the next page in Link (docs/interface.md, "Lists"). */
export function listDeliveriesHandler({ db, baseUrl }: Dependencies): Handler {
  return async (ctx, { params, query }) => {
    const webhook = readId(params.id);
    const limit = readLimit(query.limit);
    const after = readCursor(query.cursor, uuidPattern);
    if (!(await findWebhook(db, webhook))) throw noSuchWebhook();
    const found = await listDeliveries(db, { webhook, after, limit: limit + 1 });
    const page = found.slice(0, limit);
    const last = page.at(-1);
    if (found.length > limit && last) {
      const cursor = writeCursor({ createdAt: last.position, id: last.id });
      const next = `${baseUrl}/webhooks/${webhook}/deliveries?cursor=${cursor}&limit=${limit}`;
      ctx.set('Link', `<${next}>; rel="next"`);
    }
    ctx.body = page.map(presentDelivery);
  };
}
