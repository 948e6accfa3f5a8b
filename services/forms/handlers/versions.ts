import type { Context } from 'koa';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { sendList } from '#lib/http/lists.ts';
import type { Input, OperationHandlers } from '#lib/http/operation.ts';
import { sendPage } from '#lib/http/send.ts';
import { checkDraft } from '../commands/check-draft.ts';
import { findModel, findVersion, type VersionPath } from '../commands/model-access.ts';
import {
  createDraft,
  deleteVersion,
  type GivenDraft,
  replaceDraft,
  type SavedDraft,
  setKind,
  setStatus,
} from '../commands/versions.ts';
import { entityTag, isVersionStatus, type Version } from '../domain/model.ts';
import { presentVersion } from '../presenters/present-model.ts';
import { previewPage } from '../presenters/preview-page.ts';
import { readChannels } from '../queries/message-channels.ts';
import { listVersions, readVersionSummaries } from '../queries/versions.ts';
import type { Dependencies } from './dependencies.ts';
import { ifMatchOf } from './models.ts';

/** Handlers of `/models/{id}/versions`. */
export function versionHandlers(dependencies: Dependencies) {
  const { db, instance, renderer, previews } = dependencies;
  const urlOf = (model: string, version: string) => `${instance.baseUrl}/models/${model}/versions/${version}`;

  function redirect(ctx: Context, model: string, version: string): void {
    ctx.status = 303;
    ctx.set('Location', urlOf(model, version));
  }

  return {
    async listVersions(ctx, { params, query }) {
      const { id } = await findModel(db, params.id);
      await sendList(ctx, query, {
        url: `${instance.baseUrl}/models/${id}/versions`,
        find: (page) => listVersions(db, id, page),
        present: ({ position: _, ...version }) => presentVersion(version),
      });
    },

    async createVersion(ctx, input) {
      const saved = await createDraft(dependencies, input.params.id, readDraft(input));
      const { version } = saved;
      sendSaved(ctx, saved);
      ctx.status = 201;
      ctx.set('Location', urlOf(version.model, version.id));
    },

    async getLatestVersion(ctx, { params }) {
      const { id } = await findModel(db, params.id);
      const [latest] = await readVersionSummaries(db, [id]);
      if (!latest) throw fail('not-found', 'This model has no version yet.');
      redirect(ctx, id, latest.id);
    },

    async getActiveVersion(ctx, { params }) {
      const { id, activeVersion } = await findModel(db, params.id);
      if (!activeVersion) throw fail('not-found', 'This model has no ACTIVE version.');
      redirect(ctx, id, activeVersion);
    },

    async getVersion(ctx, { params }) {
      sendVersion(ctx, await findVersion(db, pathOf(params)));
    },

    async updateVersion(ctx, input) {
      const path = pathOf(input.params);
      sendSaved(ctx, await replaceDraft(dependencies, path, readDraft(input), ifMatchOf(ctx)));
    },

    async checkVersion(ctx, { params }) {
      ctx.body = await checkDraft(dependencies, pathOf(params));
    },

    async deleteVersion(ctx, { params }) {
      await deleteVersion(dependencies, pathOf(params), ifMatchOf(ctx));
      ctx.status = 204;
    },

    async setVersionStatus(ctx, { params, body: { status } }) {
      if (!isVersionStatus(status)) throw invalidMember('status', 'ACTIVE or ARCHIVED');
      sendVersion(ctx, await setStatus(dependencies, pathOf(params), status, ifMatchOf(ctx)));
    },

    async setVersionType(ctx, { params, body: { type, reason } }) {
      if (type !== 'MAJOR' && type !== 'MINOR') throw invalidMember('type', 'MAJOR or MINOR');
      const given = { kind: type, reason: reason?.trim() || null } as const;
      sendVersion(ctx, await setKind(dependencies, pathOf(params), given, ifMatchOf(ctx)));
    },

    async previewVersion(ctx, { params, body }) {
      const entry = await findModel(db, params.id);
      const version = await findVersion(db, pathOf(params));
      const page = await previewPage(entry, version, body ?? {}, {
        ...dependencies,
        operations: previews,
        hasMail: async () => (await readChannels(db)).includes('mail'),
      });
      sendPage(ctx, await renderer.renderInTurns(page), { inlineStyles: page.page === 'mail' });
    },
  } satisfies OperationHandlers;
}

function pathOf({ id, vid }: { id: string; vid: string }): VersionPath {
  return { model: id, version: vid };
}

function readDraft({ body, query }: Input<'createVersion' | 'updateVersion'>): GivenDraft {
  return { content: body, incomplete: query.incomplete === 'true' };
}

/** Sends a draft as it was stored, with what it lacks. */
function sendSaved(ctx: Context, { version, faults }: SavedDraft): void {
  sendVersion(ctx, version, faults);
}

/** Sends a version with its content and its entity tag. */
function sendVersion(ctx: Context, version: Version, faults: readonly Fault[] = []): void {
  ctx.body = { ...presentVersion(version), ...(faults.length > 0 && { faults }) };
  ctx.set('ETag', entityTag(version.revision));
}

function invalidMember(name: string, allowed: string) {
  return fail('invalid', `The ${name} is not valid.`, {
    errors: [{ pointer: `/${name}`, code: 'invalid', detail: `must be ${allowed}` }],
  });
}
