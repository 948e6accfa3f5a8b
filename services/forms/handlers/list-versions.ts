import { readCursor, readLimit, uuidPattern, writeCursor } from '#lib/http/lists.ts';
import type { Handler } from '#lib/http/operation.ts';
import { findModel } from '../commands/find.ts';
import { presentVersion } from '../presenters/present-model.ts';
import { listVersions } from '../queries/versions.ts';
import type { Dependencies } from './dependencies.ts';

/** GET /models/{id}/versions */
export function listVersionsHandler({ db, instance }: Dependencies): Handler {
  return async (ctx, { params, query }) => {
    const limit = readLimit(query.limit);
    const after = readCursor(query.cursor, uuidPattern);
    const { id } = await findModel(db, params.id ?? '');
    const versions = await listVersions(db, id, { limit: limit + 1, after });
    const page = versions.slice(0, limit);
    const last = page.at(-1);
    if (versions.length > limit && last) {
      const cursor = writeCursor({ createdAt: last.position, id: last.id });
      ctx.set(
        'Link',
        `<${instance.baseUrl}/models/${id}/versions?limit=${limit}&cursor=${cursor}>; rel="next"`,
      );
    }
    ctx.body = page.map(({ position: _, ...version }) => presentVersion(version));
  };
}
