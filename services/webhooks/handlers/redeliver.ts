import type { Handler } from '#lib/http/operation.ts';
import { redeliver } from '../commands/redeliver.ts';
import { presentDelivery } from '../presenters/present-delivery.ts';
import { type Dependencies, readId } from './dependencies.ts';

/** POST /webhooks/{id}/deliveries/{did}/redeliver: 202, because it is called later. */
export function redeliverHandler(dependencies: Dependencies): Handler {
  return async (ctx, { params }) => {
    const delivery = { webhook: readId(params.id), id: readId(params.did) };
    ctx.body = presentDelivery(await redeliver(dependencies, delivery));
    ctx.status = 202;
  };
}
