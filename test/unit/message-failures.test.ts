import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { createMessageMetrics } from '#lib/observability/metrics/event-metrics.ts';

it('failed messages are counted by a bounded number of classes, each of which is reported from the start', async () => {
  const registry = new Registry();
  const metrics = createMessageMetrics([registry]);
  metrics.watch();
  const series = async () =>
    [...(await registry.metrics()).matchAll(/^accord_messages_failed_total\{(.*)\} (\d+)$/gm)]
      .map(([, labels, count]) => `${labels?.replaceAll('"', '')} ${count}`)
      .sort();
  const zeros = await series();
  expect(zeros).toContain('kind=mail,error=limit 0');
  for (const error of ['smtp-550', 'smtp-571', 'ann@example.org', 'toString', null])
    metrics.countFailed({ kind: 'mail', error });
  const counted = await series();
  expect(counted).toHaveLength(zeros.length);
  expect(counted.filter((line) => !line.endsWith(' 0'))).toEqual([
    'kind=mail,error=other 3',
    'kind=mail,error=smtp-5xx 2',
  ]);
});
