import { fail } from '#lib/errors/fail.ts';
import type { Handler } from '#lib/http/operation.ts';
import { findModel } from '../commands/find.ts';
import type { Dependencies } from './dependencies.ts';
import { versionUrl } from './send-model.ts';

/** GET /models/{id}/versions/active */
export function getActiveVersionHandler({ db, instance }: Dependencies): Handler {
  return async (ctx, { params }) => {
    const { id, activeVersion } = await findModel(db, params.id ?? '');
    if (!activeVersion) throw fail('not-found', 'This model has no ACTIVE version.');
    ctx.status = 303;
    ctx.set('Location', versionUrl(instance.baseUrl, id, activeVersion));
  };
}
