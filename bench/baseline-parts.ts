import { readFileSync } from 'node:fs';
import type { Queries } from '#lib/db/database.ts';
import type { createPool } from '#lib/db/pool.ts';
import { compile, type Statement } from '#lib/db/sql.ts';
import type { BaselineSamples } from './baseline-forms.ts';

/** Statements as they are, on any connection that is free. */
export function queriesOf(pool: ReturnType<typeof createPool>): Queries {
  const query = async <T>(statement: Statement) => (await pool.query(compile(statement))).rows as T[];
  return {
    query,
    maybeOne: async <T>(statement: Statement) => (await query<T>(statement))[0],
    one: async <T>(statement: Statement) => (await query<T>(statement))[0] as T,
  };
}

/** Pages of the sample transaction, from the file that SAMPLES names. */
export function readSamples(): BaselineSamples {
  const { form, ...pages } = JSON.parse(
    readFileSync(process.env.SAMPLES as string, 'utf8'),
  ) as BaselineSamples;
  // The form is posted to the address that it was had from, not to that of the sample, which is answered
  // already.
  return { form: form.replace('method="post" action=', 'method="post" not-to='), ...pages };
}
