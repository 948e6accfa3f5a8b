import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { recordsOf } from '../support/instances/live-transactions.ts';
import { runCommand } from '../support/programs/run-command.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';

const instance = useInstance();
const admin = useSetup(() => signIn(instance, 'admin'));
const run = (args: readonly string[]) =>
  runCommand('services/import.ts', args, {
    env: {
      ACCORD_URL: instance.url,
      ACCORD_TOKEN: admin.headers.Authorization?.replace('Bearer ', '') ?? '',
    },
  });
const ofEvents = path.join(import.meta.dirname, '../../docs/examples/import-events.yaml');

const head = 'id,contact,purpose,action,when,zone';
const good = Array.from(
  { length: 60 },
  (_, number) => `g${number},person ${number},sms,opt-in,2024-05-03 09:30:00,Europe/Paris`,
);
/** Each with what is said of it, by its line in a file of the head and these. */
const faulty: readonly (readonly [string, RegExp])[] = [
  [
    'f1,a,sms,opt-in,2024-02-31 09:30:00,Europe/Paris',
    /line 2, column when: "2024-02-31 09:30:00" is no time/,
  ],
  [
    'f2,a,sms,opt-in,2024-03-31 02:30:00,Europe/Paris',
    /line 3, column when: "2024-03-31 02:30:00" is no time/,
  ],
  ['f3,a,sms,opt-in,2024-05-03 09:30:00,Mars/Base', /line 4, column zone: "Mars\/Base" is no time zone/],
  ['f4,a,fax,opt-in,2024-05-03 09:30:00,Europe/Paris', /line 5, column purpose: "fax" is none of the words/],
  ['f5,a,sms,maybe,2024-05-03 09:30:00,Europe/Paris', /line 6, column action: "maybe" is none of the words/],
  ['f6,,sms,opt-in,2024-05-03 09:30:00,Europe/Paris', /line 7, column contact: is empty/],
  ['f7,a,sms,opt-in', /line 8, column zone: is not there/],
  [
    'f8,a,sms,opt-in,2124-05-03 09:30:00,Europe/Paris',
    /line 9, column action: \/given invalid: is in the future/,
  ],
];
/** Quotes that are none of CSV; the second one swallows the line after it. */
const quotes = [
  'q1,Hotel "Sonne",sms,opt-in,2024-05-03 09:30:00,Europe/Paris',
  'q2,"open,sms,opt-in,2024-05-03 09:30:00,Europe/Paris',
  'q3,"closed",sms,opt-in,2024-05-03 09:30:00,Europe/Paris',
];
const latin = Buffer.concat([
  Buffer.from('f9,zo'),
  Buffer.of(0xeb),
  Buffer.from(',sms,opt-in,2024-05-03 09:30:00,Europe/Paris\r\n'),
]);
const special = [
  // The same moment in two time zones.
  'z1,in Paris,sms,opt-in,2024-05-03 09:30:00,Europe/Paris',
  'z2,in New York,sms,opt-in,2024-05-03 03:30:00,America/New_York',
  'z3,with an offset,sms,opt-in,2024-05-03T09:30:00+02:00,America/New_York',
  // A spreadsheet would take these for formulas.
  '"=x1","=SUM(1,2)",sms,opt-in,2024-05-03 09:30:00,Europe/Paris',
  "x2,'+33 6 12 34,sms,opt-in,2024-05-03 09:30:00,Europe/Paris",
  'x3,"two\nlines",mail,opt-out,2024-05-03 09:30:00,Europe/Paris',
  // The same id: once more, later, and with another answer.
  'd1,twice,sms,opt-in,2024-05-03 09:30:00,Europe/Paris',
  'd1,twice,sms,opt-in,2024-05-03 09:30:00,Europe/Paris',
  'd1,twice,sms,opt-out,2024-05-04 09:30:00,Europe/Paris',
  'd1,twice,sms,opt-out,2024-05-03 09:30:00,Europe/Paris',
];
const lines = (rows: readonly string[]) => Buffer.from(`${rows.join('\r\n')}\r\n`);
const marked = (rows: readonly Buffer[]) => Buffer.concat([Buffer.from(`\uFEFF${head}\r\n`), ...rows]);

describe('a table with the faults of real files', () => {
  it('is taken over but for its faulty lines, which are corrected and sent again', async () => {
    const folder = await temporaryFolder();
    const at = (name: string) => path.join(folder, name);
    await writeFile(
      at('all.csv'),
      marked([lines(faulty.map(([line]) => line)), latin, lines([...quotes, ...special, ...good])]),
    );
    const all = [at('all.csv'), '--mapping', ofEvents, '--rejected', at('rejected.csv')];

    const dry = await run([...all, '--dry-run']);
    expect([dry.code, dry.output]).toEqual([
      2,
      expect.stringContaining('81 rows: 68 created, 1 unchanged, 12 rejected.'),
    ]);
    const first = await run(all);
    expect([first.code, first.output]).toEqual([
      2,
      expect.stringContaining('81 rows: 68 created, 1 unchanged, 12 rejected.'),
    ]);
    for (const [, said] of faulty) expect(first.errors).toMatch(said);
    expect(first.errors).toMatch(/line 10, column contact: has bytes of another encoding/);
    expect(first.errors).toMatch(/line 11, column contact: has a quote inside/);
    expect(first.errors).toMatch(/line 12, column contact: has a quote inside/);
    expect(first.errors).toMatch(/line 24, column action: \/sourceId conflict/);

    const given = async (subject: string) =>
      (await recordsOf(admin, subject))['processing.001']?.map(({ values, creationTimestamp }) => [
        values[0],
        new Date(creationTimestamp).toISOString(),
      ]);
    for (const subject of [
      'in Paris',
      'in New York',
      'with an offset',
      '=SUM(1,2)',
      '+33 6 12 34',
      'person 59',
    ])
      expect(await given(subject), subject).toEqual([['accepted', '2024-05-03T07:30:00.000Z']]);
    expect(Object.keys(await recordsOf(admin, 'two\nlines'))).toEqual(['processing.002']);
    expect(await given('twice')).toEqual([
      ['refused', '2024-05-04T07:30:00.000Z'],
      ['accepted', '2024-05-03T07:30:00.000Z'],
    ]);

    const rejected = await readFile(at('rejected.csv'), 'utf8');
    expect(rejected.split('\n')).toEqual([
      `\uFEFF${head}`,
      ...faulty.map(([line]) => line),
      'f9,zo\uFFFD,sms,opt-in,2024-05-03 09:30:00,Europe/Paris',
      ...[quotes[0], `${quotes[1]}\r`, quotes[2]],
      'd1,twice,sms,opt-out,2024-05-03 09:30:00,Europe/Paris',
      '',
    ]);
    const corrected = rejected
      .replace('02-31', '02-29')
      .replace('03-31 02', '03-31 03')
      .replace('Mars/Base', 'Europe/Paris')
      .replace('fax', 'mail')
      .replace('maybe', 'opt-out')
      .replace('f6,', 'f6,b')
      .replace('f7,a,sms,opt-in', 'f7,a,sms,opt-in,2024-05-03 09:30:00,Europe/Paris')
      .replace('2124', '2024')
      .replace('Hotel "Sonne"', '"Hotel ""Sonne"""')
      .replace('"open', 'open')
      .replace('zo\uFFFD', 'zoë')
      .replace(/d1,.*\n/, '');
    await writeFile(at('corrected.csv'), corrected);
    const second = await run([at('corrected.csv'), '--mapping', ofEvents, '--rejected', at('none')]);
    expect([second.code, second.output]).toEqual([0, '12 rows: 12 created, 0 unchanged, 0 rejected.\n']);
    for (const subject of ['zoë', 'Hotel "Sonne"', 'open', 'closed'])
      expect(await given(subject)).toHaveLength(1);
    expect((await run(all)).output).toContain('81 rows: 0 created, 69 unchanged, 12 rejected.');
  });

  it('is taken over up to a quote that is never closed, and the rest once it is corrected', async () => {
    const folder = await temporaryFolder();
    const at = (name: string) => path.join(folder, name);
    const line = (number: number, contact: string) =>
      `o${number},${contact},sms,opt-in,2024-05-03 09:30:00,Europe/Paris`;
    const before = [line(0, '"before, it"'), line(1, '"two\nlines before"')];
    const open = line(2, '"never closed');
    const behind = Array.from({ length: 500 }, (_, number) => line(number + 3, `behind ${number}`));
    await writeFile(at('open.csv'), [head, ...before, open, ...behind, ''].join('\r\n'));
    const args = (name: string) => [at(name), '--mapping', ofEvents, '--rejected', at('rest.csv')];
    const first = await run(args('open.csv'));
    expect([first.code, first.output]).toEqual([
      2,
      expect.stringContaining('503 rows: 2 created, 0 unchanged, 501 rejected.'),
    ]);
    expect(first.errors.split('\n').filter((said) => said.includes('open.csv'))).toEqual([
      'open.csv, line 5, column contact: opens a quote that is never closed; nothing is read from line 5 on',
    ]);
    const rest = await readFile(at('rest.csv'), 'utf8');
    expect(rest).toBe(`\uFEFF${[head, open, ...behind, ''].join('\n')}`);
    await writeFile(at('corrected.csv'), rest.replace('"never', 'never'));
    const second = await run(args('corrected.csv'));
    expect([second.code, second.output]).toEqual([0, '501 rows: 501 created, 0 unchanged, 0 rejected.\n']);
    for (const subject of ['before, it', 'two\nlines before', 'never closed', 'behind 499'])
      expect(await recordsOf(admin, subject)).toHaveProperty(['processing.001']);
  });

  it('is not read at all with a head that does not fit', async () => {
    const file = path.join(await temporaryFolder(), 'table.csv');
    await writeFile(file, `id,contact,purpose,action,when,when\n${good.join('\n')}\n`);
    const refused = await run([file, '--mapping', ofEvents]);
    expect([refused.code, refused.output]).toEqual([1, '']);
    expect(refused.errors).toContain('column when: is there more than once\n  column zone: is not there');
  });

  it('keeps its lines as they are in the file of rejected ones, whatever its encoding and separator', async () => {
    const folder = await temporaryFolder();
    const at = (name: string) => path.join(folder, name);
    const ofPersons = await readFile(path.join(path.dirname(ofEvents), 'import-persons.yaml'), 'utf8');
    await writeFile(at('mapping.yaml'), `encoding: windows-1252\n${ofPersons}`);
    const table = (rows: readonly string[]) =>
      ['Customer;E-Mail;Newsletter;Profiling;Signed up;Form', ...rows, ''].join('\n');
    const line = '7;zoë@example.org;perhaps;never;03.05.2024 09:30;';
    await writeFile(at('people.csv'), Buffer.from(table([line, line.replace('perhaps', 'yes')]), 'latin1'));
    const rejected = ['--mapping', at('mapping.yaml'), '--rejected', at('rejected.csv')];
    const first = await run([at('people.csv'), ...rejected]);
    expect(first.output).toContain('4 rows: 1 created, 0 unchanged, 3 rejected.');
    expect(await readFile(at('rejected.csv'), 'utf8')).toBe(
      `\uFEFF${table([line, line.replace('perhaps', 'yes')])}`,
    );
    await writeFile(
      at('corrected.csv'),
      `\uFEFF${table([line.replace('perhaps', 'yes').replace('never', 'no')])}`,
    );
    const second = await run([at('corrected.csv'), '--mapping', at('mapping.yaml')]);
    expect(second.output).toBe('2 rows: 1 created, 1 unchanged, 0 rejected.\n');
    expect(Object.keys(await recordsOf(admin, 'zoë@example.org'))).toContain('processing.002');
  });
});
