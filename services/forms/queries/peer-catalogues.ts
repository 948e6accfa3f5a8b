import type { Queries } from '#lib/db/database.ts';
import { sql } from '#lib/db/sql.ts';
import type { Serial } from '../domain/identifiers.ts';
import type { PeerCopy } from '../domain/peer-entry.ts';

/** The copy of a peer's catalogue, with the elements that layouts may name. */
export interface CatalogueCopy extends PeerCopy {
  id: string;
  host: string;
  isNamesake: boolean;
  asOf: Date;
  elements: (Serial & { key: string; type: string; name: string; languages: string[] })[];
}

/** Reads the copies of all catalogues by host, each with its elements by key. */
export function readCatalogues(db: Queries): Promise<CatalogueCopy[]> {
  return db.query<CatalogueCopy>(sql`
    SELECT k.id, p.url, p.host, p.name AS owner, p.as_of AS "asOf",
           extract(epoch FROM accord_now() - p.as_of)::float8 AS age,
           EXISTS (SELECT FROM peers AS o WHERE o.appearance = p.appearance AND o.url <> p.url) AS "isNamesake",
           coalesce(e.elements, '[]'::json) AS elements
      FROM peers AS p
      JOIN (SELECT n.id, n.url FROM known_peers AS c, unnest(c.ids, c.urls) AS n (id, url)) AS k ON k.url = p.url
      LEFT JOIN LATERAL (
        SELECT json_agg(json_build_object('key', e.key, 'type', e.type, 'name', e.name, 'major', e.active_major,
                          'minor', e.active_minor, 'languages', ARRAY(SELECT jsonb_object_keys(v.data) ORDER BY 1))
                        ORDER BY e.key) AS elements
          FROM peer_entries AS e JOIN peer_versions AS v ON v.id = e.active_version
         WHERE e.peer = p.url AND e.type <> 'information') AS e ON true
     ORDER BY p.host`);
}
