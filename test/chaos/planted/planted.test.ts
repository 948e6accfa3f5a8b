import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { breachesOf } from './breaches-of.ts';
import { bugs } from './bugs.ts';

const root = path.join(import.meta.dirname, '..', '..', '..');

/** The product's source, in which values and fragments of statements are the parameter `$1`. */
const sources = globSync('{lib,services}/**/*.{ts,sql}', { cwd: root }).map((file) =>
  readFileSync(path.join(root, file), 'utf8').replaceAll(/\$\{[^}]*\}/g, '$$1'),
);

/**
 * One for each of the first invariants, none of which shows only by chance. `npm run chaos:planted` runs all
 * bugs.
 */
const quick = ['records-left-out', 'claim-missing', 'commit-without-condition', 'event-left-out'] as const;

it.each(Object.entries(bugs))('the planted bug %s finds its place in the source', async (_name, bug) => {
  for (const { find } of bug.statements ?? []) {
    const pattern = new RegExp(find.source, find.flags.replace('g', ''));
    expect(
      sources.filter((source) => pattern.test(source)),
      String(find),
    ).not.toEqual([]);
  }
  for (const { file, name } of bug.exports ?? [])
    expect(await import(path.join(root, file)), `${name} in ${file}`).toHaveProperty(name);
});

it.each(quick)('the checker catches the planted bug %s', async (name) => {
  expect((await breachesOf(name)).join('\n')).toMatch(bugs[name]?.caught as RegExp);
});
