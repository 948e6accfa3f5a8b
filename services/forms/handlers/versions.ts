import type { Context } from 'koa';
import { fail } from '#lib/errors/fail.ts';
import { sendList } from '#lib/http/lists.ts';
import type { Handler } from '#lib/http/operation.ts';
import { sendPage } from '#lib/http/send.ts';
import { findModel, findVersion } from '../commands/model-access.ts';
import { createDraft, deleteVersion, replaceDraft, setKind, setStatus } from '../commands/versions.ts';
import type { GivenContent } from '../domain/check-content.ts';
import { entityTag, isVersionStatus, type Version } from '../domain/model.ts';
import { type PreviewRequest, readPreview } from '../domain/read-preview.ts';
import { presentVersion } from '../presenters/present-model.ts';
import { previewPage } from '../presenters/preview-page.ts';
import { listVersions, readVersionSummaries } from '../queries/versions.ts';
import type { Dependencies } from './dependencies.ts';
import { ifMatchOf } from './models.ts';

type Params = Record<string, string>;

/** GET /models/{id}/versions */
export function listVersionsHandler({ db, instance }: Dependencies): Handler {
  return async (ctx, { params, query }) => {
    const { id } = await findModel(db, params.id ?? '');
    await sendList(ctx, query, {
      url: `${instance.baseUrl}/models/${id}/versions`,
      find: (page) => listVersions(db, id, page),
      present: ({ position: _, ...version }) => presentVersion(version),
    });
  };
}

/** POST /models/{id}/versions */
export function createVersionHandler(dependencies: Dependencies): Handler {
  return async (ctx, { params, body }: { params: Params; body: GivenContent }) => {
    sendVersion(ctx, dependencies, await createDraft(dependencies, params.id ?? '', body), 201);
  };
}

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

/** GET /models/{id}/versions/active */
export function getActiveVersionHandler({ db, instance }: Dependencies): Handler {
  return async (ctx, { params }) => {
    const { id, activeVersion } = await findModel(db, params.id ?? '');
    if (!activeVersion) throw fail('not-found', 'This model has no ACTIVE version.');
    ctx.status = 303;
    ctx.set('Location', versionUrl(instance.baseUrl, id, activeVersion));
  };
}

/** GET /models/{id}/versions/{vid} */
export function getVersionHandler(dependencies: Dependencies): Handler {
  return async (ctx, { params }) => {
    sendVersion(ctx, dependencies, await findVersion(dependencies.db, pathOf(params)));
  };
}

/** PUT /models/{id}/versions/{vid} */
export function updateVersionHandler(dependencies: Dependencies): Handler {
  return async (ctx, { params, body }: { params: Params; body: GivenContent }) => {
    sendVersion(ctx, dependencies, await replaceDraft(dependencies, pathOf(params), body, ifMatchOf(ctx)));
  };
}

/** DELETE /models/{id}/versions/{vid} */
export function deleteVersionHandler(dependencies: Dependencies): Handler {
  return async (ctx, { params }) => {
    await deleteVersion(dependencies, pathOf(params), ifMatchOf(ctx));
    ctx.status = 204;
  };
}

/** PUT /models/{id}/versions/{vid}/status */
export function setVersionStatusHandler(dependencies: Dependencies): Handler {
  return async (ctx, { params, body }: { params: Params; body: { status: string } }) => {
    const { status } = body;
    if (!isVersionStatus(status)) throw invalidMember('status', 'ACTIVE or ARCHIVED');
    sendVersion(ctx, dependencies, await setStatus(dependencies, pathOf(params), status, ifMatchOf(ctx)));
  };
}

/** PUT /models/{id}/versions/{vid}/type */
export function setVersionTypeHandler(dependencies: Dependencies): Handler {
  return async (ctx, { params, body }: { params: Params; body: { type: string } }) => {
    const { type } = body;
    if (type !== 'MAJOR' && type !== 'MINOR') throw invalidMember('type', 'MAJOR or MINOR');
    sendVersion(ctx, dependencies, await setKind(dependencies, pathOf(params), type, ifMatchOf(ctx)));
  };
}

function invalidMember(name: string, allowed: string) {
  return fail('invalid', `The ${name} is not valid.`, {
    errors: [{ pointer: `/${name}`, code: 'invalid', detail: `must be ${allowed}` }],
  });
}

function pathOf({ id = '', vid = '' }: Params) {
  return { model: id, version: vid };
}

/** Sends a version with its content and its entity tag. A 201 also sends `Location`. */
function sendVersion(
  ctx: Context,
  { instance }: Dependencies,
  version: Version,
  status: 200 | 201 = 200,
): void {
  ctx.body = presentVersion(version);
  ctx.status = status;
  ctx.set('ETag', entityTag(version.revision));
  if (status === 201) ctx.set('Location', versionUrl(instance.baseUrl, version.model, version.id));
}

function versionUrl(baseUrl: string, model: string, version: string): string {
  return `${baseUrl}/models/${model}/versions/${version}`;
}

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
