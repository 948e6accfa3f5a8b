import { appendFile, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { recordsOf } from '../support/instances/live-transactions.ts';
import { runCommand } from '../support/programs/run-command.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';
import { exchangeFile, fhirConsent, fhirPatient, fhirXml } from '../support/samples/gics-files.ts';

const instance = useInstance();
const admin = useSetup(() => signIn(instance, 'admin'));
const run = (args: readonly string[]) =>
  runCommand('services/import.ts', ['--from', 'gics', ...args], {
    env: {
      ACCORD_URL: instance.url,
      ACCORD_TOKEN: admin.headers.Authorization?.replace('Bearer ', '') ?? '',
    },
  });
async function write(files: Readonly<Record<string, object | string>>): Promise<(name: string) => string> {
  const folder = await temporaryFolder();
  for (const [name, content] of Object.entries(files))
    await writeFile(path.join(folder, name), typeof content === 'string' ? content : JSON.stringify(content));
  return (name) => path.join(folder, name);
}
async function activeOf(key: string): Promise<Record<string, unknown>> {
  const entry = (await (await admin.get(`/models/serials/${key}`)).json()) as components['schemas']['Entry'];
  const [version] = (await (await admin.get(`/models/${entry.id}/versions`)).json()) as {
    data: { de: Record<string, unknown> };
  }[];
  return version?.data.de ?? {};
}

describe('npm run import -- --from gics', () => {
  it('makes each policy and module an element with its text and validity, and the document a form', async () => {
    const at = await write({ 'lake.json': exchangeFile, 'lake.xml': fhirXml(exchangeFile) });
    const dry = await run([at('lake.json'), '--dry-run']);
    expect([dry.code, dry.output]).toEqual([0, expect.stringContaining('Would make 8 models here')]);
    const made = await run([at('lake.json')]);
    expect(made.output).toContain('Made 8 models here');
    for (const what of [
      'documents of type REVOCATION',
      'earlier versions of policies',
      'rules of expiry FIXED_DATE',
    ])
      expect(made.output).toContain(`Not carried: 1 ${what}.`);

    expect(await activeOf('Lake.policy.collect_water')).toMatchObject({
      title: 'collect water',
      data: 'Collecting samples of water',
      usage: 'I agree to the use of my water.',
      validity: 'P5Y',
    });
    expect((await activeOf('Lake.policy.keep_water')).validity).toBe('P30Y');
    expect(await activeOf('Lake.module.Begin')).toMatchObject({
      title: '1. What it is about',
      usage: 'We study lakes & rivers.',
      refusable: false,
    });
    expect(await activeOf('Lake.module.Water')).toMatchObject({ validity: 'P5Y' });
    expect(await activeOf('Lake.information.Grun-blau')).toMatchObject({ title: 'Declaration' });
    expect(await activeOf('Lake.form.Grun-blau')).toMatchObject({
      info: 'Lake.information.Grun-blau',
      elements: [
        'Lake.module.Begin',
        ...['Lake.policy.collect_water', 'Lake.policy.keep_water', 'Lake.policy.call_again'],
      ],
      context: { validity: 'P30Y' },
    });
    // The same file in its other format says the same.
    expect((await run([at('lake.xml')])).output).not.toContain('Made');
  });

  it('takes over what was signed, once, and what cannot be is corrected and sent again', async () => {
    const signed = fhirConsent('c1', '2024-03-01T10:00:00+01:00', { 7.1: true, 7.2: false });
    const unknown = fhirConsent('c2', '2024-03-02', { 7.3: true, 7.4: true });
    const ended = { ...fhirConsent('c3', '2024-03-03', { 7.1: true }), status: 'inactive' };
    const people = [fhirPatient('c1', 'psn 1'), fhirPatient('c2', 'psn 2'), fhirPatient('c3', 'psn 3')];
    const entry = [signed, unknown, ended, ...people].map((resource) => ({ resource }));
    const at = await write({ 'lake.json': exchangeFile, 'consents.json': { resourceType: 'Bundle', entry } });
    const rejected = ['--rejected', at('rejected.ndjson')];
    const files = [at('lake.json'), at('consents.json')];

    const first = await run([...files, ...rejected]);
    expect(first.output).toContain('4 rows: 3 created, 0 unchanged, 1 rejected.');
    expect(first.output).toContain('Not carried: 1 consents with the status inactive.');
    expect(first.errors).toContain('consents.json, Consent c2, 7.4: is the code of no policy of Lake');
    const records = await recordsOf(admin, 'psn 1');
    expect(records['Lake.policy.collect_water']?.[0]).toMatchObject({
      values: ['accepted'],
      infoKey: 'Lake.information.Grun-blau',
      creationTimestamp: Date.parse('2024-03-01T09:00:00Z'),
      expirationTimestamp: Date.parse('2029-03-01T09:00:00Z'),
      imported: { source: 'gICS Lake', sourceId: 'c1/collect_water' },
    });
    expect(records['Lake.policy.keep_water']?.[0]).toMatchObject({ values: ['refused'], status: 'VALID' });
    expect(await recordsOf(admin, 'psn 3')).toEqual({});

    const again = await run([...files, ...rejected]);
    expect(again.output).toContain('4 rows: 0 created, 3 unchanged, 1 rejected.');
    const text = await readFile(at('rejected.ndjson'), 'utf8');
    await writeFile(at('corrected.ndjson'), text.replace('7.4', '7.2'));
    const corrected = await run([at('lake.json'), at('corrected.ndjson'), '--rejected', at('none')]);
    expect([corrected.code, corrected.output]).toEqual([
      0,
      expect.stringContaining('1 created, 1 unchanged, 0 rejected'),
    ]);
  });

  it('rejects a line that is no resource, or has a member twice, and reads on', async () => {
    const lines = [
      JSON.stringify(fhirPatient('d1', 'psn d')),
      '{"resourceType": "Consent", "id": ',
      JSON.stringify(fhirConsent('d1', '2024-04-01', { 7.1: true })).replace('{', '{"status":"inactive",'),
      '[]',
      JSON.stringify(fhirConsent('d1', '2024-04-02', { 7.1: true })),
    ];
    const at = await write({ 'lake.json': exchangeFile, 'consents.ndjson': lines.join('\n') });
    const broken = Buffer.from('\n{"resourceType":"Consent","id":"caf\xe9"}\n', 'latin1');
    await appendFile(at('consents.ndjson'), broken);
    const files = [at('lake.json'), at('consents.ndjson')];
    const read = await run([...files, '--rejected', at('rejected.ndjson')]);
    expect(read.output).toContain('5 rows: 1 created, 0 unchanged, 4 rejected.');
    expect(read.errors).toContain('consents.ndjson, line 2: is neither JSON nor XML');
    expect(read.errors).toContain('consents.ndjson, line 3: has two members of the same name: /status');
    expect(read.errors).toContain('consents.ndjson, line 4: is no resource of FHIR');
    expect(read.errors).toContain('consents.ndjson, line 6: has bytes that are not UTF-8');
    const rejected = [...lines.slice(1, 4), ''].join('\n');
    expect(await readFile(at('rejected.ndjson'))).toEqual(
      Buffer.concat([Buffer.from(rejected), broken.subarray(1)]),
    );
    expect((await recordsOf(admin, 'psn d'))['Lake.policy.collect_water']).toHaveLength(1);
  });

  it('names what a file lacks, and makes nothing', async () => {
    const { modulesConsentModule: _left, ...rest } = exchangeFile;
    const at = await write({
      'lake.json': rest,
      'other.json': { resourceType: 'Bundle' },
      'bad.xml': '<a><b></a>',
    });
    const lacking = await run([at('lake.json')]);
    expect([lacking.code, lacking.errors]).toEqual([
      1,
      expect.stringContaining('Lake;Grün & blau;2.0.a: Lake;Call;1.0 is not in the file'),
    ]);
    expect((await run([at('other.json')])).errors).toContain(
      'None of the files is an ExchangeFormatDefinition of gICS.',
    );
    expect((await run([at('bad.xml')])).errors).toContain('bad.xml is not XML');
    await writeFile(at('bad.xml'), Buffer.from('<a>\n<b value="caf\xe9"/></a>', 'latin1'));
    expect((await run([at('bad.xml')])).errors).toContain('bad.xml, line 2: has bytes that are not UTF-8.');
  });
});
