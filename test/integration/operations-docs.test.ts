import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { createMetrics } from '#lib/observability/metrics.ts';
import { standaloneSpecs } from '../../lib/config/specs.ts';
import { authSpecs } from '../../services/auth/config.ts';
import { formsSpecs } from '../../services/forms/config.ts';
import { peersSpecs } from '../../services/peers/config.ts';
import { transactionsSpecs } from '../../services/transactions/config.ts';

const project = path.join(import.meta.dirname, '..', '..');
const read = (file: string) => readFileSync(path.join(project, file), 'utf8');
const page = read('docs/operations.md');

interface Rule {
  alert: string;
  expr: string;
  annotations: { summary: string; runbook: string };
}
const rules = (parse(read('deploy/prometheus-rules.yaml')) as { groups: { rules: Rule[] }[] }).groups.flatMap(
  (group) => group.rules,
);

async function ownMetrics(): Promise<string[]> {
  const metrics = createMetrics();
  metrics.watchLoad(() => ({ inFlight: 0, queued: {}, delayMs: 0 }));
  const { body } = await metrics.read();
  return [...body.matchAll(/^# HELP (accord_\w+)/gm)].map(([, name]) => name as string);
}

it('every metric is described, and the page describes none that is not there', async () => {
  const names = await ownMetrics();
  expect(names.length).toBeGreaterThan(15);
  const described = new Set([...page.matchAll(/`(accord_\w+)`/g)].map(([, name]) => name));
  described.delete('accord_');
  expect([...described].sort()).toEqual(names.sort());
});

it('alerts go by metrics that exist, exactly by those in bold, and lead to a section of the page', async () => {
  const names = await ownMetrics();
  const watched = new Set(
    rules.flatMap(({ expr }) =>
      [...expr.matchAll(/accord_\w+/g)].map(([name]) => name.replace(/_(bucket|count|sum)$/, '')),
    ),
  );
  for (const name of watched) expect(names).toContain(name);
  const bold = new Set([...page.matchAll(/\*\*`(accord_\w+)`\*\*/g)].map(([, name]) => name));
  expect([...bold].sort()).toEqual([...watched].sort());
  const sections = [...page.matchAll(/^#+ (.*)$/gm)].map(
    ([, title]) => `docs/operations.md#${(title as string).toLowerCase().replaceAll(' ', '-')}`,
  );
  for (const { alert, annotations } of rules) expect(sections, alert).toContain(annotations.runbook);
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
});

it('every setting is in the tables', () => {
  const specs = { ...standaloneSpecs, ...authSpecs, ...formsSpecs, ...transactionsSpecs, ...peersSpecs };
  // DATA_DIR belongs to the embedded database, which npm start alone has.
  for (const name of Object.keys(specs).filter((each) => each !== 'DATA_DIR')) expect(page).toContain(name);
});

it('every file that the page names is there', () => {
  for (const [, target] of page.matchAll(/\]\((\.\.\/[^)#]+)\)/g))
    expect(() => read(path.join('docs', target as string)), target).not.toThrow();
});
