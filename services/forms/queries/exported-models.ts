import type { ExportedModel, ExportModels } from '#lib/contracts/exported-models.ts';
import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import { modelTypes } from '#lib/evidence/signed-page.ts';

/** Contents of a page, as PostgreSQL compresses them. */
const maxBytes = 1024 * 1024;

type Row = Omit<ExportedModel, 'description'> & { description: string | null };

/**
 * The internal operation `exportModels`: models with every version that was ever ACTIVE, the first one first;
 * by type, and by key in the order of its bytes. A page has at least one model, and no more than
 * {@link maxBytes} if it has several.
 */
export async function readExportedModels(
  db: Queries,
  { after, limit }: Parameters<ExportModels>[0],
): ReturnType<ExportModels> {
  const found = await db.query<{ id: string; bytes: number }>(sql`
    SELECT m.id, v.bytes
      FROM (SELECT e.*, array_position(${modelTypes}::text[], e.type) AS rank FROM models AS e) AS m
      JOIN LATERAL (SELECT sum(pg_column_size(a.data))::int AS bytes FROM model_versions AS a
                     WHERE a.model = m.id AND a.major IS NOT NULL) AS v ON v.bytes IS NOT NULL
     WHERE (m.rank, m.key COLLATE "C") > (${after ? modelTypes.indexOf(after.type) + 1 : 0}::int, ${after?.key ?? ''})
     ORDER BY m.rank, m.key COLLATE "C" LIMIT ${limit + 1}`);
  let bytes = 0;
  const page = found.slice(0, limit).filter((model, place) => {
    bytes += model.bytes;
    return place === 0 || bytes <= maxBytes;
  });
  return {
    models: await readModels(
      db,
      page.map(({ id }) => id),
    ),
    more: page.length < found.length,
  };
}

/** In this order. */
async function readModels(db: Queries, ids: readonly string[]): Promise<ExportedModel[]> {
  const rows = await db.query<Row>(sql`
    SELECT m.key, m.type, m.name, m.description, m.is_default AS "default",
           (SELECT json_agg(json_strip_nulls(json_build_object(
                     'serial', v.major || '.' || v.minor, 'status', v.status, 'reason', v.reason,
                     'defaultLanguage', v.default_language))::jsonb || jsonb_build_object('data', v.data)
                     ORDER BY v.major, v.minor)
              FROM model_versions AS v WHERE v.model = m.id AND v.major IS NOT NULL) AS versions
      FROM unnest(${ids}::uuid[]) WITH ORDINALITY AS i (id, place)
      JOIN models AS m ON m.id = i.id
     ORDER BY i.place`);
  return rows.map(({ description, ...model }) => ({
    ...model,
    ...(description !== null && { description }),
  }));
}
