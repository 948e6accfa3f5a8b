import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import { type TestInstance, useInstance, useSetup } from '../support/instances/instance.ts';
import { letter } from '../support/instances/live-subject.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';
import { killImport, type Moment } from '../support/programs/killed-import.ts';
import { runCommand } from '../support/programs/run-command.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';

type Page = components['schemas']['RecordsExport'];

const [old, fresh, clean] = [useInstance(), useInstance(), useInstance()];
const [oldAdmin, freshAdmin, cleanAdmin] = [old, fresh, clean].map((instance) =>
  useSetup(() => signIn(instance, 'admin')),
) as [Caller, Caller, Caller];
const key = useSetup(() => createKey(old));
const environmentOf = (instance: TestInstance, { headers }: Caller) => ({
  ACCORD_URL: instance.url,
  ACCORD_TOKEN: headers.Authorization?.replace('Bearer ', '') ?? '',
  SOURCE_KEY: key.key,
});
const run = (args: readonly string[], instance = fresh, caller = freshAdmin) =>
  runCommand('services/import.ts', args, { env: environmentOf(instance, caller) });
const kill = (args: readonly string[], request: number, moment: Moment) =>
  killImport(args, { target: fresh.url, env: environmentOf(fresh, freshAdmin), request, moment });

/**
 * Every answer that was taken over, whatever ids it has here and since when it is in force here.
 * @param source where it came from.
 */
async function takenOver(caller: Caller, source?: string): Promise<string[]> {
  const answers: string[] = [];
  for (let next: string | undefined = ''; next !== undefined; ) {
    const query: string = next === '' ? 'logged=false' : `cursor=${encodeURIComponent(next)}`;
    const page = (await (await caller.get(`/records/export?limit=200&${query}`)).json()) as Page;
    for (const { imported, subject, records } of page.values)
      if (imported && (source === undefined || imported.source === source))
        for (const { record: _r, created: _c, from: _f, until: _u, endedBy: _e, ...rest } of records)
          answers.push(JSON.stringify([subject, imported.source, imported.evidence?.value, rest]));
    next = page.next;
  }
  return answers.sort();
}

/** Of one source; two of them are rejected. */
const rowOf = (source: string, number: number) => ({
  subject: `${source} ${number}`,
  element: 'processing.001',
  serial: '1.0',
  answer: [number % 500 === 7 ? 'perhaps' : number % 3 === 0 ? 'refused' : 'accepted'],
  given: `2024-05-0${1 + (number % 9)}`,
  source,
  sourceId: `${number}`,
});
const count = 1_000;
const rejectedRows = 2;

const moments: [request: number, moment: Moment][] = [
  [1, 'before'],
  [1, 'during'],
  [1, 'stored'],
  [2, 'before'],
  [2, 'answered'],
  [3, 'during'],
  [3, 'answered'],
];

describe('an import that is killed and started again', () => {
  it.each(moments)('ends as one that was not: rows, request %i, %s', async (request, moment) => {
    const folder = await temporaryFolder();
    const [file, rejected] = [path.join(folder, 'rows.ndjson'), path.join(folder, 'rejected.ndjson')];
    const source = `Rows ${request} ${moment}`;
    const lines = Array.from({ length: count }, (_, number) => JSON.stringify(rowOf(source, number)));
    await writeFile(file, lines.join('\n'));
    const args = [file, '--rejected', rejected];
    expect(await kill(args, request, moment)).toBe(true);
    const stored = await takenOver(freshAdmin, source);

    const again = await run(args);
    expect([again.code, again.output.split('\n')[0]]).toEqual([
      2,
      expect.stringMatching(/^1,000 rows: \d+ created, \d+ unchanged, 2 rejected\.$/),
    ]);
    const [, created = '', unchanged = ''] = /([\d,]+) created, ([\d,]+) unchanged/.exec(again.output) ?? [];
    expect(Number(created) + Number(unchanged)).toBe(count - rejectedRows);
    // What the instance was still working on is there when the second run asks for it.
    if (moment !== 'during') expect(Number(unchanged)).toBe(stored.length);
    expect(await takenOver(freshAdmin, source)).toHaveLength(count - rejectedRows);
    expect(await readFile(rejected, 'utf8')).toBe(`${lines[7]}\n${lines[507]}\n`);
    expect((await run(args)).output).toContain('1,000 rows: 0 created, 998 unchanged, 2 rejected.');
  });

  it.each<[number, Moment]>([
    [1, 'during'],
    [2, 'stored'],
  ])('ends as one that was not: a table, request %i, %s', async (request, moment) => {
    const folder = await temporaryFolder();
    const [file, rejected] = [path.join(folder, 'table.csv'), path.join(folder, 'rejected.csv')];
    const head = 'id,contact,purpose,action,when,zone';
    const name = `table ${request} ${moment}`;
    const line = (number: number) =>
      `${name} ${number},${name} ${number},sms,${number === 7 ? 'perhaps' : 'opt-in'},2024-05-03 09:30:00,Europe/Paris`;
    const lines = Array.from({ length: count }, (_, number) => line(number));
    await writeFile(file, [head, ...lines, ''].join('\n'));
    const mapping = path.join(import.meta.dirname, '../../docs/examples/import-events.yaml');
    const args = [file, '--mapping', mapping, '--rejected', rejected];
    expect(await kill(args, request, moment)).toBe(true);
    const again = await run(args);
    expect(again.output).toMatch(/^1,000 rows: \d+ created, \d+ unchanged, 1 rejected\.$/m);
    const stored = (await takenOver(freshAdmin)).filter((answer) => answer.includes(`"${name} `));
    expect(stored).toHaveLength(count - 1);
    expect(await readFile(rejected, 'utf8')).toBe(`\uFEFF${head}\n${lines[7]}\n`);
  });
});

describe('an import from another instance', () => {
  const args = () => ['--from', 'interface', '--url', old.url];
  beforeAll(async () => {
    for (let person = 0; person < 5; person += 1)
      await recordAnswers(oldAdmin, `signed ${person}`, { [letter]: ['accepted'] });
    const rows = Array.from({ length: 900 }, (_, number) => ({
      ...rowOf('CRM', number),
      subject: `moved ${number % 50}`,
      answer: ['accepted'],
      given: new Date(Date.UTC(2020, 0, 1 + number)).toISOString(),
      validity: 'P20Y',
    }));
    const imported = await old.fetch('/records/import', {
      method: 'POST',
      headers: { ...oldAdmin.headers, 'Content-Type': 'application/x-ndjson' },
      body: rows.map((row) => JSON.stringify(row)).join('\n'),
    });
    expect(await imported.json()).toMatchObject({ created: 900 });
  });

  it('ends as one that was not killed, wherever it was killed while it sent rows', {
    timeout: 180_000,
  }, async () => {
    for (const [request, moment] of [[1, 'before'], ...moments.slice(1, 5), [3, 'stored']] as typeof moments)
      expect(await kill(args(), request, moment)).toBe(true);
    const last = await run(args());
    expect([last.code, last.output]).toEqual([0, expect.stringContaining(' 0 rejected.')]);
    const whole = await run(args(), clean, cleanAdmin);
    expect([whole.code, whole.output]).toEqual([0, expect.stringContaining('905 created')]);
    const ofOld = (answer: string) => /"(signed|moved) \d/.test(answer);
    expect((await takenOver(freshAdmin)).filter(ofOld)).toEqual(await takenOver(cleanAdmin));
  });
});

it('two imports of the same file at the same time take each row over once', async () => {
  const file = path.join(await temporaryFolder(), 'rows.ndjson');
  const source = 'Two at a time';
  const rows = Array.from({ length: count }, (_, number) => ({
    ...rowOf(source, number),
    answer: ['accepted'],
  }));
  await writeFile(file, rows.map((row) => JSON.stringify(row)).join('\n'));
  const both = await Promise.all([run([file]), run([file])]);
  const figures = both.map(({ code, output }) => {
    const [, created = '', unchanged = ''] =
      /^1,000 rows: ([\d,]+) created, ([\d,]+) unchanged, 0 rejected\.$/m.exec(output) ?? [];
    expect(code).toBe(0);
    return [created, unchanged].map((figure) => Number(figure.replace(',', ''))) as [number, number];
  });
  expect(figures.reduce((sum, [created]) => sum + created, 0)).toBe(count);
  for (const [created, unchanged] of figures) expect(created + unchanged).toBe(count);
  expect(await takenOver(freshAdmin, source)).toHaveLength(count);
});
