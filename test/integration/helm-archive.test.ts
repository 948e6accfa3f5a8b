import { cp, readFile, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { packChart } from '../infrastructure/chart-archive.ts';
import { execute } from '../infrastructure/programs.ts';
import { openChart } from '../support/helm/chart.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';

const project = path.join(import.meta.dirname, '..', '..');
const chart = await openChart();
const author = { NAME: 'Test', EMAIL: 'test@example.org', DATE: '2026-01-02T03:04:05Z' };
const identity = Object.entries(author).flatMap(([name, value]) => [
  [`GIT_AUTHOR_${name}`, value],
  [`GIT_COMMITTER_${name}`, value],
]);
const env = { ...process.env, ...Object.fromEntries(identity) };

/** A repository of its own with the chart of this working tree, in one commit. */
async function commitChart(): Promise<string> {
  const root = await temporaryFolder();
  for (const part of ['helm', 'deploy/prometheus-rules.yaml'])
    await cp(path.join(project, part), path.join(root, part), { recursive: true, verbatimSymlinks: true });
  const git = (...words: string[]) => execute('git', ['-C', root, ...words], { env });
  await git('init', '--quiet');
  await git('add', '.');
  await git('commit', '--quiet', '--message', 'chart');
  return root;
}

async function pack(root: string): Promise<Buffer> {
  return readFile(await packChart(root, await temporaryFolder()));
}

describe.skipIf(!chart)('the archive of the chart', () => {
  it('has the same bytes from a clone, from files with other dates, and beside files that git does not track', async () => {
    const root = await commitChart();
    const first = await pack(root);
    const clone = await temporaryFolder();
    await execute('git', ['clone', '--quiet', root, clone]);
    await writeFile(path.join(clone, 'helm', 'templates', 'forgotten.yaml'), 'kind: Secret\n');
    await utimes(path.join(clone, 'helm', 'values.yaml'), 1, 1);
    expect((await pack(clone)).equals(first)).toBe(true);
  });

  it('differs if a file of the chart differs, and renders the same manifests as the working tree', async () => {
    const root = await commitChart();
    const folder = await temporaryFolder();
    const archive = await packChart(root, folder);
    const first = await readFile(archive);
    expect(await chart?.render('production.yaml')).toBe(await chart?.renderFrom(archive, 'production.yaml'));
    await writeFile(path.join(root, 'helm', 'templates', 'NOTES.txt'), 'Changed.\n');
    expect((await pack(root)).equals(first)).toBe(false);
  });
});
