import { type Organisation, query } from './organisation.ts';
import { expectThat } from './scenario.ts';

/** A digest of each committed record of an organisation, by the id of the record. */
export type Records = ReadonlyMap<string, string>;

export async function readRecords(organisation: Organisation): Promise<Records> {
  const statement = "SELECT r.id, md5(r::text) FROM transactions.records AS r WHERE r.state = 'COMMITTED'";
  const rows = await query(organisation, statement);
  return new Map(rows as [string, string][]);
}

/** @throws Error unless every earlier record is there, with the same content. There may be later ones. */
export function expectSameRecords(earlier: Records, later: Records): void {
  const lost = [...earlier.keys()].filter((id) => !later.has(id));
  const changed = [...earlier].filter(([id, digest]) => later.has(id) && later.get(id) !== digest);
  expectThat(earlier.size > 0, 'there are no earlier records');
  expectThat(lost.length === 0, `${lost.length} of ${earlier.size} records are lost, such as ${lost[0]}`);
  expectThat(changed.length === 0, `${changed.length} records have changed, such as ${changed[0]?.[0]}`);
}
