import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { sendNotModified } from '#lib/http/entity-tags.ts';
import { readChoices } from '#lib/http/lists.ts';
import type { Input, OperationHandlers } from '#lib/http/operation.ts';
import { uploadLogo } from '../commands/logos.ts';
import { findModel } from '../commands/model-access.ts';
import { createModel, deleteModel, importModel, updateModelFields } from '../commands/models.ts';
import { canonicalReference, parseReference } from '../domain/identifiers.ts';
import {
  type Entry,
  entityTag,
  entryStatuses,
  type ModelOrder,
  modelOrders,
  modelTypes,
  usingStatuses,
} from '../domain/model.ts';
import { presentCatalogue, presentEntry, presentExport } from '../presenters/present-model.ts';
import { listModels, type ModelFilter, readModelByKey } from '../queries/models.ts';
import { readCatalogues } from '../queries/peer-catalogues.ts';
import { readVersionSummaries, readVersions } from '../queries/versions.ts';
import type { Dependencies } from './dependencies.ts';
import { readModelCursor, writeModelCursor } from './model-cursor.ts';

const defaultSize = 50;

/** Handlers of `/models`, without the versions. */
export function modelHandlers(dependencies: Dependencies) {
  const { db, instance, staleDays } = dependencies;

  /** Sends an entry with its versions and its entity tag. */
  async function sendModel(ctx: Context, entry: Entry): Promise<void> {
    ctx.set('ETag', entityTag(entry.revision));
    if (sendNotModified(ctx)) return;
    ctx.body = presentEntry(entry, await readVersionSummaries(db, [entry.id]));
  }

  async function sendCreated(ctx: Context, entry: Entry): Promise<void> {
    ctx.status = 201;
    ctx.set('Location', `${instance.baseUrl}/models/${entry.id}`);
    await sendModel(ctx, entry);
  }

  return {
    async listModels(ctx, { query }) {
      const page = Number(query.page ?? 0);
      const size = Number(query.size ?? defaultSize);
      const { order, ...filter } = readFilter(query);
      const after = readModelCursor(query.cursor, order);
      const { entries: found, total } = await listModels(db, filter, { order, after, number: page, size });
      const entries = found.slice(0, size);
      const last = found.length > size ? entries.at(-1) : undefined;
      const ids = entries.map(({ id }) => id);
      const versions = Map.groupBy(await readVersionSummaries(db, ids), ({ model }) => model);
      const list: components['schemas']['EntryPage'] = {
        values: entries.map((entry) => presentEntry(entry, versions.get(entry.id) ?? [])),
        page,
        pageSize: size,
        totalPages: Math.ceil(total / size),
        totalCount: total,
        ...(last && { next: writeModelCursor(order, { value: last.position, id: last.id }) }),
      };
      ctx.body = list;
    },

    async listPeerModels(ctx) {
      const copies = await readCatalogues(db);
      ctx.body = { values: copies.map((copy) => presentCatalogue(copy, instance.name, staleDays)) };
    },

    async createModel(ctx, { body }) {
      await sendCreated(ctx, await createModel(dependencies, body));
    },

    async importModel(ctx, { body }) {
      await sendCreated(ctx, await importModel(dependencies, body));
    },

    async getModel(ctx, { params }) {
      await sendModel(ctx, await findModel(db, params.id));
    },

    async getModelByKey(ctx, { params }) {
      const entry = await readModelByKey(db, params.key);
      if (!entry) throw fail('not-found', 'No model has this key.');
      await sendModel(ctx, entry);
    },

    async updateModel(ctx, { params, body }) {
      await sendModel(ctx, await updateModelFields(dependencies, params.id, body, ifMatchOf(ctx)));
    },

    async deleteModel(ctx, { params }) {
      await deleteModel(dependencies, params.id, ifMatchOf(ctx));
      ctx.status = 204;
    },

    async exportModel(ctx, { params }) {
      const entry = await findModel(db, params.id);
      ctx.body = presentExport(entry, await readVersions(db, entry.id));
      ctx.attachment(`${entry.key}.json`);
      ctx.type = 'application/json';
    },

    async uploadLogo(ctx, { params, body }) {
      ctx.body = { logoPath: await uploadLogo(dependencies, params.id, body ?? Buffer.alloc(0)) };
    },
  } satisfies OperationHandlers;
}

type ModelQuery = Input<'listModels'>['query'];

/** @throws Failure `invalid` for an unknown type, status or order. */
function readFilter(query: ModelQuery): ModelFilter & { order: ModelOrder } {
  const faults: Fault[] = [];
  const list = (name: 'keys' | 'languages' | 'uses') => (query[name] ?? []).filter((value) => value !== '');
  const filter = {
    types: readChoices(query.types, 'types', modelTypes, faults) ?? [],
    keys: list('keys'),
    statuses: readChoices(query.statuses, 'statuses', entryStatuses, faults) ?? [],
    languages: list('languages'),
    uses: list('uses').map(canonicalUse),
    usesIn: readChoices(query.usesIn, 'usesIn', usingStatuses, faults) ?? usingStatuses,
    order: readChoices(query.sort, 'sort', modelOrders, faults)?.[0] ?? 'key',
    keyword: query.keyword || undefined,
    ...readFlag(query, 'shared'),
    ...readFlag(query, 'draft'),
  };
  if (faults.length > 0) throw fail('invalid', 'The filter is not valid.', { errors: faults });
  return filter;
}

/** The contract allows `true` and `false`; an empty value filters nothing. */
function readFlag(query: ModelQuery, name: 'shared' | 'draft') {
  const given = query[name];
  return given ? { [name]: given === 'true' } : {};
}

/** A reference as layouts store it; `@<host>` stands for any reference to this peer. */
function canonicalUse(given: string): string {
  if (!given.startsWith('@')) return canonicalReference(given);
  const host = parseReference(`any${given}`)?.host;
  return host ? `@${host}` : given;
}

/** The If-Match header; an empty one counts as absent. */
export function ifMatchOf(ctx: Context): string | undefined {
  return ctx.get('if-match') || undefined;
}
