import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Manifest, openChart, readManifests } from '../support/helm/chart.ts';

const project = path.join(import.meta.dirname, '..', '..');
const read = (file: string) => readFileSync(path.join(project, file), 'utf8');
const chart = await openChart();

interface Rule {
  alert: string;
  expr: string;
  labels: Record<string, string>;
  annotations: Record<string, string>;
}

const rulesIn = (spec: unknown) =>
  (spec as { groups: { rules: Rule[] }[] }).groups.flatMap(({ rules }) => rules);

async function renderIn(namespace: string): Promise<Manifest[]> {
  return readManifests((await chart?.render('production.yaml', '--namespace', namespace)) ?? '');
}

describe.skipIf(!chart)('several releases on one cluster', () => {
  it('have alerts of their own: every selector names the namespace of the release, and nothing else differs from the file', async () => {
    const written = rulesIn(parse(read('deploy/prometheus-rules.yaml')));
    const manifests = await renderIn('clinic-2');
    const rendered = rulesIn(manifests.find(({ kind }) => kind === 'PrometheusRule')?.spec);
    for (const { alert, expr } of rendered) {
      const selectors = expr.match(/accord_\w+(\{[^}]*\})?/g) ?? [];
      expect(selectors.length, alert).toBeGreaterThan(0);
      for (const selector of selectors) expect(selector, alert).toMatch(/\{namespace="clinic-2"[,}]/);
    }
    const restored = rendered.map(({ expr, labels: { namespace, ...labels }, annotations, ...rule }) => {
      expect(namespace, rule.alert).toBe('clinic-2');
      const { runbook_url: link = '', ...others } = annotations;
      const runbook = link.replace('https://wiki.example.org/accord/', '');
      const plain = expr.replaceAll('{namespace="clinic-2"}', '').replaceAll('namespace="clinic-2",', '');
      return { ...rule, expr: plain, labels, annotations: { ...others, runbook } };
    });
    expect(restored).toEqual(written);
  });

  it('have dashboards of their own, which begin with the namespace of the release', async () => {
    const dashboardIn = async (namespace: string) => {
      const manifests = await renderIn(namespace);
      const map = manifests.find(({ metadata }) => metadata.name === 'accord-dashboard');
      const [[file, text] = ['', '{}']] = Object.entries(map?.data ?? {});
      return { file, ...(JSON.parse(text) as Dashboard) };
    };
    const [clinic, school] = await Promise.all(['clinic', 'school'].map(dashboardIn));
    for (const key of ['file', 'uid', 'title'] as const) expect(clinic?.[key]).not.toBe(school?.[key]);
    expect(clinic).toMatchObject({ file: 'clinic-accord.json', title: 'Accord (clinic/accord)' });
    // Grafana takes no longer one.
    expect(clinic?.uid.length).toBeLessThanOrEqual(40);
    const [, namespace] = clinic?.templating.list ?? [];
    expect(namespace).toMatchObject({ name: 'namespace', current: { text: 'clinic', value: 'clinic' } });
    expect(clinic?.panels).toEqual((JSON.parse(read('helm/files/dashboard.json')) as Dashboard).panels);
  });
});

interface Dashboard {
  uid: string;
  title: string;
  templating: { list: object[] };
  panels: object[];
}
