import type { components } from '#lib/contracts/openapi.gen.ts';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { readChoices } from '#lib/http/lists.ts';
import type { Handler, OperationInput } from '#lib/http/operation.ts';
import { entryStatuses, modelTypes } from '../domain/model.ts';
import { presentEntry } from '../presenters/present-model.ts';
import { listModels, type ModelFilter } from '../queries/list-models.ts';
import { readVersionSummaries } from '../queries/versions.ts';
import type { Dependencies } from './dependencies.ts';

const defaultSize = 50;

/** GET /models */
export function listModelsHandler({ db }: Dependencies): Handler {
  return async (ctx, { query }) => {
    const page = Number(query.page ?? 0);
    const size = Number(query.size ?? defaultSize);
    const { entries, total } = await listModels(db, readFilter(query), { page, size });
    const versions = await readVersionSummaries(
      db,
      entries.map(({ id }) => id),
    );
    const found: components['schemas']['EntryPage'] = {
      values: entries.map((entry) =>
        presentEntry(
          entry,
          versions.filter(({ model }) => model === entry.id),
        ),
      ),
      page,
      pageSize: size,
      totalPages: Math.ceil(total / size),
      totalCount: total,
    };
    ctx.body = found;
  };
}

/** @throws Failure `invalid` for a type or status that there is not. */
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
