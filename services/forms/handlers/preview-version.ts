import type { Handler } from '#lib/http/operation.ts';
import { sendPage } from '#lib/http/send.ts';
import { findModel, findVersion } from '../commands/model-access.ts';
import { type PreviewRequest, readPreview } from '../domain/read-preview.ts';
import { previewPage } from '../presenters/preview-page.ts';
import type { Dependencies } from './dependencies.ts';

/** POST /models/{id}/versions/{vid}/preview */
export function previewVersionHandler(dependencies: Dependencies): Handler {
  const { db, renderer } = dependencies;
  return async (
    ctx,
    { params, body }: { params: Record<string, string>; body: PreviewRequest | undefined },
  ) => {
    const entry = await findModel(db, params.id ?? '');
    const version = await findVersion(db, { model: entry.id, version: params.vid ?? '' });
    const page = await previewPage(readPreview(entry, version, body ?? {}), dependencies);
    sendPage(ctx, renderer.render(page));
  };
}
