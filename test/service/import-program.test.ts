import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { exportEvidence } from '../support/evidence/export-evidence.ts';
import { signIn } from '../support/instances/callers.ts';
import { startTestInstance, useInstance, useSetup } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { letter } from '../support/instances/live-subject.ts';
import { recordAnswers, recordsOf } from '../support/instances/live-transactions.ts';
import { runCommand } from '../support/programs/run-command.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';

const instance = useInstance();
const admin = useSetup(() => signIn(instance, 'admin'));
const [, , key = '', serial = ''] = letter.split('/');
const tokenOf = ({ headers }: { headers: Record<string, string> }) =>
  headers.Authorization?.replace('Bearer ', '') ?? '';
const run = (args: readonly string[], url = instance.url, token = tokenOf(admin)) =>
  runCommand('services/import.ts', args, { env: { ACCORD_URL: url, ACCORD_TOKEN: token } });

const countImports = async () =>
  (await rowsOf(instance, "SELECT FROM transactions.audit_log WHERE action = 'records.imported'")).length;

describe('npm run import', () => {
  it('says that an instance refuses it, and does not ask to try that again', async () => {
    const file = path.join(await temporaryFolder(), 'rows.ndjson');
    await writeFile(file, '{"subject":"refused"}');
    const { code, errors } = await run([file], instance.url, tokenOf(await signIn(instance, 'operator')));
    expect(code).toBe(1);
    expect(errors).toContain('refused the import with 403');
    expect(errors).not.toContain('again');
  });

  it('rejects a row that gives a member twice, and names it', async () => {
    const file = path.join(await temporaryFolder(), 'rows.ndjson');
    const row = (id: string) =>
      JSON.stringify({
        subject: id,
        element: key,
        serial,
        answer: ['accepted'],
        given: '2024-05-01',
        source: 'Old',
        sourceId: id,
      });
    const twice = row('said twice').replace('}', ',"answer":["refused"]}');
    await writeFile(file, [twice, row('said once')].join('\n'));
    const { output, errors } = await run([file, '--dry-run']);
    expect(output).toBe('It would be: 2 rows: 1 created, 0 unchanged, 1 rejected.\n');
    expect(errors).toContain('rows.ndjson, line 1: /answer has two members of the same name');
  });

  it('rejects a line that is not UTF-8 as it is written, and divides lines by line feeds alone', async () => {
    const folder = await temporaryFolder();
    const file = path.join(folder, 'rows.ndjson');
    const rejected = path.join(folder, 'rejected.ndjson');
    const row = (subject: string, comment: string) =>
      JSON.stringify({
        subject,
        element: key,
        serial,
        answer: ['accepted'],
        given: '2024-05-01',
        source: 'Old',
        sourceId: subject,
        comment,
      });
    const broken = Buffer.from(row('another encoding', 'caf\xe9'), 'latin1');
    const lines = [row('of one line', 'first\u2028second'), broken, `\ufeff${row('whole', 'caf\xe9')}\r`];
    await writeFile(file, Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from('\n')])));
    const { code, output, errors } = await run([file, '--rejected', rejected]);
    expect([code, errors]).toEqual([2, 'rows.ndjson, line 2: has bytes that are not UTF-8\n']);
    expect(output).toContain('3 rows: 2 created, 0 unchanged, 1 rejected.');
    expect(await readFile(rejected)).toEqual(Buffer.concat([broken, Buffer.from('\n')]));
    const subject = await recordsOf(admin, 'of one line');
    expect(subject[key]?.[0]).toMatchObject({ comment: 'first\u2028second' });
  });

  it('takes rows over, writes rejected ones into a file that can be corrected, and does nothing twice', async () => {
    const folder = await temporaryFolder();
    const row = (number: number, answer: string) =>
      JSON.stringify({
        subject: `moved ${number}`,
        element: key,
        serial,
        answer: [answer],
        given: '2024-05-01',
        source: 'Old',
        sourceId: `${number}`,
      });
    const [file, rejected] = ['rows.ndjson', 'rejected.ndjson'].map((name) => path.join(folder, name)) as [
      string,
      string,
    ];
    const lines = Array.from({ length: 5_050 }, (_, number) =>
      row(number, number === 7 ? 'perhaps' : 'accepted'),
    );
    await writeFile(file, [...lines, '{"subject"'].join('\n'));

    const dry = await run([file, '--dry-run', '--rejected', rejected]);
    expect(dry.output).toBe('It would be: 5,051 rows: 5,049 created, 0 unchanged, 2 rejected.\n');
    expect(dry.errors).toContain('rows.ndjson, line 8: /answer invalid-answer: must be accepted or refused');
    expect(dry.errors).toContain('rows.ndjson, line 5051: is no JSON object');
    expect(await recordsOf(admin, 'moved 1')).toEqual({});

    const before = await countImports();
    const first = await run([file, '--rejected', rejected]);
    // 400 rows in a request, so that people are answered between them.
    expect((await countImports()) - before).toBe(Math.ceil(5_050 / 400));
    expect(first.code).toBe(2);
    expect(first.output).toContain('5,051 rows: 5,049 created, 0 unchanged, 2 rejected.');
    expect(await readFile(rejected, 'utf8')).toBe(`${row(7, 'perhaps')}\n{"subject"\n`);

    await writeFile(rejected, row(7, 'refused'));
    const corrected = await run([rejected, '--rejected', path.join(folder, 'none')]);
    expect([corrected.code, corrected.output]).toEqual([0, '1 rows: 1 created, 0 unchanged, 0 rejected.\n']);
    const between = await countImports();
    const again = await run([file, '--rejected', rejected, '--full-speed']);
    expect((await countImports()) - between).toBe(Math.ceil(5_050 / 5_000));
    expect(again.output).toContain('5,051 rows: 0 created, 5,049 unchanged, 2 rejected.');
  });

  it('reads a table by its mapping', async () => {
    const file = path.join(await temporaryFolder(), 'people.csv');
    await writeFile(
      file,
      'Customer;E-Mail;Newsletter;Profiling;Signed up;Form\n1;tab@example.org;yes;no;03.05.2024 09:30;\n',
    );
    const mapping = path.join(import.meta.dirname, '../../docs/examples/import-persons.yaml');
    expect((await run([file, '--mapping', mapping])).output).toContain('2 created');
    expect((await recordsOf(admin, 'tab@example.org'))[key]?.[0]).toMatchObject({
      values: ['accepted'],
      creationTimestamp: Date.parse('2024-05-03T07:30:00Z'),
    });
  });

  it('brings the receipts of an export into another instance: same answers, times and receipts', async () => {
    const subject = 'person of the export';
    await recordAnswers(admin, subject, { [letter]: ['accepted'] });
    expect((await admin.send('POST', '/choices/withdraw', { subject })).status).toBe(201);
    const folder = await exportEvidence(instance, admin, 2);
    const other = await startTestInstance();
    try {
      const there = await signIn(other, 'admin');
      const moved = await run([folder], other.url, tokenOf(there));
      // The answers that were taken over before come along.
      const all = '5,056 rows: 5,056 created, 0 unchanged, 0 rejected.\n';
      expect([moved.code, moved.output]).toEqual([0, all]);
      const facts = async (caller: typeof admin) =>
        (await recordsOf(caller, subject))[key]?.map(
          ({ values, creationTimestamp, expirationTimestamp, status }) =>
            [values, creationTimestamp, expirationTimestamp, status] as const,
        );
      expect(await facts(there)).toEqual(await facts(admin));
      expect((await recordsOf(there, subject))[key]?.every(({ imported }) => imported?.verified)).toBe(true);
      expect((await run([folder], other.url, tokenOf(there))).output).toContain('0 created, 5,056 unchanged');
    } finally {
      await other.stop();
    }
    await writeFile(
      path.join(folder, 'records.ndjson'),
      (await readFile(path.join(folder, 'records.ndjson'), 'utf8')).replace('e', 'f'),
    );
    expect((await run([folder])).errors).toContain('records.ndjson');
  });
});
