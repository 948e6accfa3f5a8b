import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { breachesOf } from './breaches-of.ts';
import { bugs } from './bugs.ts';

const root = path.join(import.meta.dirname, '..', '..', '..');

/** The product's source, with values and fragments of statements as the parameter `$1`. */
const sources = globSync('{lib,services}/**/*.{ts,sql}', { cwd: root }).map((file) =>
  readFileSync(path.join(root, file), 'utf8').replaceAll(/\$\{[^}]*\}/g, '$$1'),
);

/** One for each of the first invariants, none of which shows only by chance. `npm run chaos:planted` runs all bugs. */
const quick = ['records-left-out', 'claim-missing', 'commit-without-condition', 'event-left-out'] as const;

describe.each(Object.entries(bugs))('the planted bug %s', (_name, { statements = [], exports = [] }) => {
  it.each(statements)('finds its statement: $find', ({ find }) => {
    const pattern = new RegExp(find.source, find.flags.replace('g', ''));
    expect(sources.some((source) => pattern.test(source))).toBe(true);
  });

  it.each(exports)('finds $name in $file', async ({ file, name }) => {
    expect(await import(path.join(root, file))).toHaveProperty(name);
  });
});

it.each(quick)('the checker catches the planted bug %s', async (name) => {
  expect((await breachesOf(name)).join('\n')).toMatch(bugs[name]?.caught as RegExp);
});
