import type { components } from '#lib/contracts/openapi.gen.ts';
import type { Handler } from '#lib/http/operation.ts';
import { presentEntry } from '../presenters/present-model.ts';
import { listModels } from '../queries/list-models.ts';
import { readVersionSummaries } from '../queries/versions.ts';
import type { Dependencies } from './dependencies.ts';

const defaultSize = 50;

/** GET /models */
export function listModelsHandler({ db }: Dependencies): Handler {
  return async (ctx, { query }) => {
    const list = (name: string) => [query[name] ?? []].flat().filter((value) => value !== '');
    const page = Number(query.page ?? 0);
    const size = Number(query.size ?? defaultSize);
    const { entries, total } = await listModels(
      db,
      {
        types: list('types'),
        keys: list('keys'),
        statuses: list('statuses'),
        languages: list('languages'),
        keyword: list('keyword')[0],
      },
      { page, size },
    );
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
