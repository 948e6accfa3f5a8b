import { describe, expect, it } from 'vitest';
import { minors } from '../infrastructure/kubernetes-schemas.ts';
import {
  examples,
  type Manifest,
  openChart,
  readManifests,
  readTrial,
  readTrialRouter,
} from '../support/helm/chart.ts';
import { openSchema } from '../support/helm/schemas.ts';

const chart = await openChart();
const rendered = new Map<string, Manifest[]>();
for (const example of chart ? examples : [])
  rendered.set(example, readManifests((await chart?.render(example)) ?? ''));

describe.skipIf(!chart).each(minors)('Kubernetes %s', (minor) => {
  it('accepts every resource of the examples and of the trial', async ({ skip }) => {
    const check = (await openSchema(minor)) ?? skip();
    for (const [example, manifests] of rendered) {
      expect(manifests.length, example).toBeGreaterThan(30);
      expect(manifests.flatMap(check), example).toEqual([]);
    }
    const trial = [...readTrial().flatMap(([, manifests]) => manifests), ...readTrialRouter()];
    expect(trial.flatMap(check)).toEqual([]);
  });

  it('refuses an unknown field, a wrong type and an unknown kind', async ({ skip }) => {
    const check = (await openSchema(minor)) ?? skip();
    const [policy] = (rendered.get('minimal.yaml') ?? []).filter(({ kind }) => kind === 'NetworkPolicy');
    const broken = { ...policy, spec: { ...policy?.spec, podSelectr: {} } } as Manifest;
    expect(check(broken)).toEqual([expect.stringContaining('podSelectr')]);
    expect(check({ ...policy, spec: { ...policy?.spec, policyTypes: 'Egress' } } as Manifest)).toHaveLength(
      1,
    );
    expect(check({ ...policy, kind: 'NetworkPolice' } as Manifest)).toHaveLength(1);
  });
});
