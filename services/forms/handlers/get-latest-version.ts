import { fail } from '#lib/errors/fail.ts';
import type { Handler } from '#lib/http/operation.ts';
import { findModel } from '../commands/find.ts';
import { readVersionSummaries } from '../queries/versions.ts';
import type { Dependencies } from './dependencies.ts';
import { versionUrl } from './send-model.ts';

/** GET /models/{id}/versions/latest */
export function getLatestVersionHandler({ db, instance }: Dependencies): Handler {
  return async (ctx, { params }) => {
    const { id } = await findModel(db, params.id ?? '');
    const [latest] = await readVersionSummaries(db, [id]);
    if (!latest) throw fail('not-found', 'This model has no version yet.');
    ctx.status = 303;
    ctx.set('Location', versionUrl(instance.baseUrl, id, latest.id));
  };
}
