import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { createMetrics } from '#lib/observability/metrics.ts';

interface Rules {
  groups: { rules: { alert: string; expr: string; for?: string }[] }[];
}

it('a counter whose first increment is an alert reports zero from the start, for every selector of the alert', async () => {
  const text = readFileSync(new URL('../../deploy/prometheus-rules.yaml', import.meta.url), 'utf8');
  const { groups } = parse(text) as Rules;
  // An alert with `for` needs increments that go on.
  const sudden = groups
    .flatMap(({ rules }) => rules)
    .filter((rule) => rule.for === undefined && /(rate|increase)\(.*> 0\b/.test(rule.expr));
  expect(sudden.map(({ alert }) => alert).sort()).toEqual([
    'AccordMessagesLost',
    'AccordPeerImpostor',
    'AccordSubmissionConflict',
  ]);
  const metrics = createMetrics();
  for (const each of [metrics.messages, metrics.peers, metrics.submissions]) each.watch();
  const lines = (await metrics.read()).body.split('\n').filter((line) => line.endsWith(' 0'));
  for (const { alert, expr } of sudden)
    for (const [, name, labels = ''] of expr.matchAll(
      /(?:rate|increase)\((accord_\w+)\{([^}]*)\}\[\w+\]\)\) > 0/g,
    )) {
      const wanted = labels.split(',').filter((label) => /^\w+="/.test(label));
      const reported = lines.filter(
        (line) => line.startsWith(`${name}{`) && wanted.every((label) => line.includes(label)),
      );
      expect(reported, alert).not.toEqual([]);
    }
});
