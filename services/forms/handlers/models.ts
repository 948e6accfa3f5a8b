import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { readChoices } from '#lib/http/lists.ts';
import type { Handler, OperationInput } from '#lib/http/operation.ts';
import { uploadLogo } from '../commands/logos.ts';
import { findModel } from '../commands/model-access.ts';
import {
  createModel,
  deleteModel,
  type ImportedModel,
  importModel,
  type UpdateModelInput,
  updateModelFields,
} from '../commands/models.ts';
import { entityTag, entryStatuses, modelTypes } from '../domain/model.ts';
import type { GivenEntry } from '../domain/read-entry-fields.ts';
import { presentEntry, presentExport } from '../presenters/present-model.ts';
import { listModels, type ModelFilter, readModelByKey } from '../queries/models.ts';
import { readVersionSummaries, readVersions } from '../queries/versions.ts';
import type { Dependencies } from './dependencies.ts';

const defaultSize = 50;

/** GET /models */
export function listModelsHandler({ db }: Dependencies): Handler {
  return async (ctx, { query }) => {
    const page = Number(query.page ?? 0);
    const size = Number(query.size ?? defaultSize);
    const { entries, total } = await listModels(db, readFilter(query), { page, size });
    const ids = entries.map(({ id }) => id);
    const versions = Map.groupBy(await readVersionSummaries(db, ids), ({ model }) => model);
    const found: components['schemas']['EntryPage'] = {
      values: entries.map((entry) => presentEntry(entry, versions.get(entry.id) ?? [])),
      page,
      pageSize: size,
      totalPages: Math.ceil(total / size),
      totalCount: total,
    };
    ctx.body = found;
  };
}

/** @throws Failure `invalid` for an unknown type or status. */
function readFilter(query: OperationInput['query']): ModelFilter {
  const faults: Fault[] = [];
  const list = (name: string) => [query[name] ?? []].flat().filter((value) => value !== '');
  const filter = {
    types: readChoices(query.types, 'types', modelTypes, faults) ?? [],
    keys: list('keys'),
    statuses: readChoices(query.statuses, 'statuses', entryStatuses, faults) ?? [],
    languages: list('languages'),
    keyword: list('keyword')[0],
  };
  if (faults.length > 0) throw fail('invalid', 'The filter is not valid.', { errors: faults });
  return filter;
}

/** POST /models */
export function createModelHandler(dependencies: Dependencies): Handler {
  return async (ctx, { body }: { body: GivenEntry }) => {
    await sendModel(ctx, dependencies, await createModel(dependencies, body), 201);
  };
}

/** POST /models/import */
export function importModelHandler(dependencies: Dependencies): Handler {
  return async (ctx, { body }: { body: ImportedModel }) => {
    await sendModel(ctx, dependencies, await importModel(dependencies, body), 201);
  };
}

/** GET /models/{id} */
export function getModelHandler(dependencies: Dependencies): Handler {
  return async (ctx, { params }) => {
    await sendModel(ctx, dependencies, await findModel(dependencies.db, params.id ?? ''));
  };
}

/** GET /models/serials/{key} */
export function getModelByKeyHandler(dependencies: Dependencies): Handler {
  return async (ctx, { params }) => {
    const entry = await readModelByKey(dependencies.db, params.key ?? '');
    if (!entry) throw fail('not-found', 'No model has this key.');
    await sendModel(ctx, dependencies, entry);
  };
}

/** PUT /models/{id} */
export function updateModelHandler(dependencies: Dependencies): Handler {
  return async (ctx, { params, body }: { params: Record<string, string>; body: UpdateModelInput }) => {
    const entry = await updateModelFields(dependencies, params.id ?? '', body, ifMatchOf(ctx));
    await sendModel(ctx, dependencies, entry);
  };
}

/** DELETE /models/{id} */
export function deleteModelHandler(dependencies: Dependencies): Handler {
  return async (ctx, { params }) => {
    await deleteModel(dependencies, params.id ?? '', ifMatchOf(ctx));
    ctx.status = 204;
  };
}

/** GET /models/{id}/export */
export function exportModelHandler({ db }: Dependencies): Handler {
  return async (ctx, { params }) => {
    const entry = await findModel(db, params.id ?? '');
    ctx.body = presentExport(entry, await readVersions(db, entry.id));
    ctx.attachment(`${entry.key}.json`);
    ctx.type = 'application/json';
  };
}

/** PUT /models/{id}/logo */
export function uploadLogoHandler(dependencies: Dependencies): Handler {
  return async (ctx, { params, body }: { params: Record<string, string>; body: Buffer | undefined }) => {
    ctx.body = { logoPath: await uploadLogo(dependencies, params.id ?? '', body ?? Buffer.alloc(0)) };
  };
}

/** Sends an entry with its versions and its entity tag. A 201 also sends `Location`. */
async function sendModel(
  ctx: Context,
  { db, instance }: Dependencies,
  entry: Parameters<typeof presentEntry>[0],
  status: 200 | 201 = 200,
): Promise<void> {
  ctx.body = presentEntry(entry, await readVersionSummaries(db, [entry.id]));
  ctx.status = status;
  ctx.set('ETag', entityTag(entry.revision));
  if (status === 201) ctx.set('Location', `${instance.baseUrl}/models/${entry.id}`);
}

/** The If-Match header; an empty one counts as absent. */
export function ifMatchOf(ctx: Context): string | undefined {
  return ctx.get('if-match') || undefined;
}
