import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import canonicalize from 'canonicalize';
import fc from 'fast-check';
import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { byThumbprint } from '#lib/evidence/evidence-keys.ts';
import { manifestName, writeManifest } from '#lib/evidence/manifest.ts';
import { EvidenceFault } from '#lib/evidence/ndjson.ts';
import { readHeld } from '#lib/evidence/verify-checkpoints.ts';
import { verifyFolder } from '#lib/evidence/verify-folder.ts';
import { blank, changesOf, type FolderChange } from '../support/evidence/folder-changes.ts';
import { type FolderFiles, linesOf, textOf, writeFolder } from '../support/evidence/folder-files.ts';
import { forgeriesOf } from '../support/evidence/forgeries.ts';
import {
  createLog,
  createSigner,
  madeInstance,
  makeFiles,
  writeCheckpoint,
} from '../support/evidence/make-folder.ts';
import { makeUnlogged } from '../support/evidence/make-records.ts';
import { signPages } from '../support/evidence/sign-pages.ts';
import { runCommand } from '../support/programs/run-command.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';

const { files: made, signers, other, checkpoints, newest } = makeFiles();
// The three oldest lines of auth are past their retention.
const files = blank(made, 'audit-auth.ndjson', (index) => index < 3);
const thumbprints = signers.map(({ jwk }) => jwk.kid).sort();
const { iat, logs } = newest;

const manifestChanges: [edit: (text: string) => string, fault: string][] = [
  [(text) => text.replace(/ {4}"records[^}]*},\n/, ''), 'does not list records.ndjson'],
  [
    (text) => text.replace('"records.ndjson"', '"others.ndjson"'),
    'others.ndjson of manifest.json is missing',
  ],
  [(text) => text.replace('{', '{"note": 1,'), 'not written as an export'],
  [(text) => text.replace('{', '{"files": {},'), 'not a JSON object'],
  [(text) => text.replace('"lines"', '"x": 1, "lines"'), 'not written as an export'],
  [(text) => text.replace(/"lines": \d+/, '"lines": 1000'), 'is not the file that'],
  [() => '', 'not a JSON object'],
  [(text) => text.replace(/"sha256": "\w+"/, (digest) => digest.toUpperCase()), 'is not the file that'],
  ...[
    (text: string) => canonicalize(JSON.parse(text)) ?? '',
    (text: string) => JSON.stringify(JSON.parse(text), null, 4),
    (text: string) => text.trimEnd(),
    (text: string) => `${text}\n`,
    (text: string) => text.replaceAll('\n', '\r\n'),
    (text: string) => text.replace('audit', '\\u0061udit'),
    (text: string) => text.replace(/"lines": (\d+)/, '"lines": $1.0'),
    (text: string) => text.replace(/("lines": \d+),?\n/, '$1 \n'),
    (text: string) =>
      JSON.stringify(
        { files: Object.fromEntries(Object.entries(JSON.parse(text).files).reverse()) },
        null,
        2,
      ),
  ].map((edit): [typeof edit, string] => [edit, 'not written as an export']),
];

/** Hundreds of folders take seconds on a quiet machine. */
const patientMs = 240_000;

const faultOf = async (changed: FolderFiles, options = {}) =>
  verifyFolder(await writeFolder(changed), options).then(
    () => undefined,
    (error: unknown) => {
      if (!(error instanceof EvidenceFault)) throw error;
      return error.message;
    },
  );

describe('a folder whose manifest describes it', () => {
  it('is proved as it was exported', async () => {
    const found = await verifyFolder(await writeFolder(files), { thumbprints, retention: 'P2Y' });
    expect(found).toEqual({
      instance: 'https://consent.example.org',
      keys: { kids: thumbprints, areTrusted: true },
      checkpoints: 5,
      logs: {
        auth: { lines: 15, blanked: 3 },
        consents: { lines: 30, blanked: 0 },
        forms: { lines: 15, blanked: 0 },
      },
      receipts: {
        proved: 12,
        erased: 3,
        unlogged: 0,
        open: 1,
        notGiven: 0,
        imported: { verified: 1, all: 3 },
      },
      models: 5,
      mappings: 3,
      others: { kids: [other.jwk.kid], areTrusted: false },
      witnesses: { byArea: { auth: 0, consents: 0, forms: 0 }, areTrusted: false },
    });
    expect((await verifyFolder(await writeFolder(files))).keys.areTrusted).toBe(false);
  });

  const passing = async (changes: Iterable<FolderChange>, atLeast: number) => {
    const all = [...changes].filter(
      ({ files: changed }) => JSON.stringify(changed) !== JSON.stringify(files),
    );
    expect(all.length).toBeGreaterThan(atLeast);
    const passed: string[] = [];
    for (const { name, files: changed } of all) if ((await faultOf(changed)) === undefined) passed.push(name);
    return passed.sort();
  };

  it('passes after no change but those that docs/evidence.md names as not provable', {
    timeout: patientMs,
  }, async () => {
    expect(await passing(changesOf(files), 1_500)).toEqual([
      // Of a blanked line, `id` and `at` are not covered by its hash.
      'audit-auth.ndjson, line 1: with another /at',
      'audit-auth.ndjson, line 1: with another /id',
      'audit-auth.ndjson, line 3: with another /at',
      'audit-auth.ndjson, line 3: with another /id',
      // A checkpoint before the newest is needed by nothing else.
      'checkpoints.ndjson: without a line in the middle',
      'checkpoints.ndjson: without its last line',
      'checkpoints.ndjson: without its last two lines',
    ]);
  });

  it('passes after no forgery but those that docs/evidence.md names as not provable', {
    timeout: patientMs,
  }, async () => {
    expect(await passing(forgeriesOf(files), 600)).toEqual([
      // Of a blanked line, `id` and `at` are not covered by its hash.
      'audit-auth.ndjson, lines 1 and 2: at exchanged',
      'audit-auth.ndjson, lines 1 and 2: id exchanged',
      // Both are signatures of the same key.
      ...['checkpoints', 'signatures'].flatMap((name) =>
        [1, 2].map((line) => `${name}.ndjson, line ${line}: with the signature n - s`),
      ),
    ]);
  });

  it('names a signed page whose members have other types', async () => {
    const [signer] = signers;
    const [first = '', ...others] = linesOf(files['signatures.ndjson'] ?? '');
    const claims = decodeJwt((JSON.parse(first) as { jws: string }).jws);
    const changes = [
      { lines: '2' },
      { lines: 1.5 },
      { lines: null },
      { iat: 'today' },
      { export: 7 },
      { sha256: {} },
      { next: 3 },
    ];
    for (const change of changes) {
      const page = JSON.stringify({ jws: signer?.page({ ...claims, ...change }) });
      const forged = { ...files, 'signatures.ndjson': textOf([page, ...others]) };
      expect(await faultOf(forged), JSON.stringify(change)).toBe(
        'signatures.ndjson, line 1: a member has another type than it should.',
      );
    }
  });

  it('passes after no change of its bytes that changes what is proved', {
    timeout: patientMs,
  }, async () => {
    const names = [...Object.keys(files), manifestName];
    /** Of a blanked line `id` and `at` are not. */
    const proved = (text: string) => text.replaceAll(/"at":"[^"]*","id":"[^"]*","leaf"/g, '"leaf"');
    const place = fc.nat({ max: 100_000 });
    const edits: Record<string, (bytes: Buffer, at: number, other: number) => Buffer> = {
      bit: (bytes, at, other) => Buffer.from(bytes.with(at, (bytes[at] as number) ^ (1 << (other % 8)))),
      value: (bytes, at, other) => Buffer.from(bytes.with(at, other % 256)),
      removed: (bytes, at, other) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + (other % 9))]),
      repeated: (bytes, at, other) =>
        Buffer.concat([bytes.subarray(0, at + (other % 9)), bytes.subarray(at)]),
      exchanged: (bytes, at, other) =>
        Buffer.from(bytes.with(at, bytes[other] as number).with(other, bytes[at] as number)),
      cut: (bytes, at) => bytes.subarray(0, at),
    };
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(...names),
        fc.constantFrom(...Object.keys(edits)),
        place,
        place,
        async (name, edit, one, other) => {
          const folder = await writeFolder(files);
          const file = path.join(folder, name);
          const bytes = await readFile(file);
          const changed = edits[edit]?.(bytes, one % bytes.length, other % bytes.length) ?? bytes;
          await writeFile(file, changed);
          if (name !== manifestName) await writeManifest(folder);
          const fault = await verifyFolder(folder).then(
            () => undefined,
            (error: unknown) => error,
          );
          if (fault !== undefined) expect(fault).toBeInstanceOf(EvidenceFault);
          else expect(proved(changed.toString())).toBe(proved(bytes.toString()));
        },
      ),
      { numRuns: 400 },
    );
  });
});

describe('a folder by its own maker', () => {
  const signed = (changed: FolderFiles) => signPages(changed, signers[1]);
  const withFile = (name: string, text: string) => signed({ ...files, [name]: text });
  const withCheckpoints = (...checkpoints: string[]) => withFile('checkpoints.ndjson', checkpoints.join(''));
  const foreign = createSigner();
  const withForeignKey = (changed: FolderFiles) => {
    const { instance, keys } = JSON.parse(files['keys.json'] ?? '');
    return {
      ...changed,
      'keys.json': `${canonicalize({ instance, keys: [...keys, foreign.jwk].sort(byThumbprint) })}\n`,
    };
  };

  it.each<[string, () => FolderFiles, RegExp]>([
    [
      'a checkpoint of another issuer',
      () =>
        withCheckpoints(writeCheckpoint(signers[1], iat + 60, logs, 'https://other.example'), ...checkpoints),
      /line 1: the checkpoint is of https:\/\/other\.example/,
    ],
    [
      'two checkpoints of one time',
      () => withCheckpoints(writeCheckpoint(signers[1], iat, logs), ...checkpoints),
      /not later/,
    ],
    [
      'a checkpoint that states a shorter log',
      () =>
        withCheckpoints(
          writeCheckpoint(signers[1], iat + 60, { ...logs, forms: { size: 1, root: '00'.repeat(32) } }),
          ...checkpoints,
        ),
      /the log forms is shorter/,
    ],
    [
      'a checkpoint that leaves a log out',
      () => withCheckpoints(writeCheckpoint(signers[1], iat + 60, { auth: logs.auth }), ...checkpoints),
      /No checkpoint covers audit-consents/,
    ],
    [
      'a checkpoint of another root',
      () =>
        withCheckpoints(
          writeCheckpoint(signers[1], iat + 60, { ...logs, forms: { size: 15, root: '00'.repeat(32) } }),
          ...checkpoints,
        ),
      /audit-forms\.ndjson: the root of 15 lines is not that/,
    ],
    [
      'a checkpoint with a size that is no number of lines',
      () =>
        withCheckpoints(
          writeCheckpoint(signers[1], iat + 60, { ...logs, forms: { size: 15.5, root: '00'.repeat(32) } }),
          ...checkpoints,
        ),
      /the head of forms is not valid/,
    ],
    [
      'a checkpoint of a log whose name is a path',
      () =>
        withCheckpoints(
          writeCheckpoint(signers[1], iat + 60, { ...logs, '../x': logs.auth }),
          ...checkpoints,
        ),
      /the head of \.\.\/x is not valid/,
    ],
    ['a key that has signed nothing', () => withForeignKey(files), /has signed nothing/],
    [
      'a receipt without its line',
      () =>
        withFile(
          'records.ndjson',
          `${files['records.ndjson']}${makeUnlogged('transaction-9-9', signers[1])}`,
        ),
      /no line of the log of consents tells of this receipt/,
    ],
    [
      'a line blanked among lines that are not',
      () => blank(files, 'audit-auth.ndjson', (index) => index === 7),
      /line 8: a line is blanked after one that is not/,
    ],
  ])('is rejected with %s', async (_, change, fault) => {
    expect(await faultOf(change())).toMatch(fault);
  });

  it('is rejected with lines that are blanked before their retention, if that is given', async () => {
    const changed = blank(files, 'audit-forms.ndjson', () => true);
    expect(await faultOf(changed, { retention: 'P2Y' })).toMatch(
      /forms\.ndjson, line \d+: a line is blanked before/,
    );
    expect(await faultOf(changed)).toBeUndefined();
  });

  it('is rejected with a checkpoint by a key that was added, if the true keys are given', async () => {
    const changed = withForeignKey(withCheckpoints(writeCheckpoint(foreign, iat + 60, logs), ...checkpoints));
    expect(await faultOf(changed)).toBeUndefined();
    expect(await faultOf(changed, { thumbprints })).toMatch(/is not among the keys from elsewhere/);
  });

  it('is rejected with links, folders and a manifest of other files', async () => {
    const linked = await writeFolder(files);
    await rename(path.join(linked, 'records.ndjson'), path.join(linked, '..', 'elsewhere.ndjson'));
    await symlink('../elsewhere.ndjson', path.join(linked, 'records.ndjson'));
    await expect(verifyFolder(linked)).rejects.toThrow('records.ndjson is not a regular file');
    const nested = await writeFolder(files);
    await mkdir(path.join(nested, 'more'));
    await expect(verifyFolder(nested)).rejects.toThrow('more is not a regular file');
    for (const [edit, fault] of manifestChanges) {
      const folder = await writeFolder(files);
      const name = path.join(folder, 'manifest.json');
      await writeFile(name, edit(await readFile(name, 'utf8')));
      await expect(verifyFolder(folder)).rejects.toThrow(fault);
    }
    const without = await writeFolder(files);
    await rm(path.join(without, 'manifest.json'));
    await expect(verifyFolder(without)).rejects.toThrow('manifest.json is missing');
  });

  it('has receipts whose lines are blanked: their signatures prove them', async () => {
    const [first = '', ...rest] = linesOf(files['records.ndjson'] ?? '');
    const moved = withFile('records.ndjson', textOf(rest.toSpliced(14, 0, first)));
    expect(await faultOf(moved)).toMatch(/lacks the receipt of the transaction transaction-0-0/);
    const blanked = signed(blank(moved, 'audit-consents.ndjson', (index) => index === 0));
    const { receipts } = await verifyFolder(await writeFolder(blanked));
    expect(receipts).toMatchObject({ proved: 11, erased: 3, unlogged: 1 });
    const twice = signed({ ...blanked, 'records.ndjson': textOf(rest.toSpliced(14, 0, first, first)) });
    expect(await faultOf(twice)).toMatch(/not in the order of their creation/);
  });

  it.each<[string, RegExp, string, RegExp]>([
    ['another answer', /"answers":\["accepted"\]/, '"answers":["refused"]', /line 1: answers of element/],
    ['an answer more', /"records":\[\{/, '"records":[{"x":1},{', /line 1: the records are not written/],
    [
      'another subject',
      /"subject":"jane","transaction"/,
      '"subject":"joan","transaction"',
      /line 1: the subject is/,
    ],
    [
      'another text of a receipt',
      /"serial":"1.0"/,
      '"serial":"1.5"',
      /^records\.ndjson, line \d+: models\.ndjson lacks/,
    ],
    [
      'another text',
      /"title":"Letters"/,
      '"title":"Mails"',
      /^models\.ndjson: element\/processing\/processing\.001\/1\.0 in en has not/,
    ],
  ])('is rejected with %s, which a receipt states otherwise', async (_, from, to, fault) => {
    const name = ['records.ndjson', 'models.ndjson'].find((each) => from.test(files[each] ?? '')) ?? '';
    const file = from.source.includes('serial') || from.source.includes('title') ? 'models.ndjson' : name;
    const place = (files[file] ?? '').search(from);
    expect(place).toBeGreaterThanOrEqual(0);
    expect(await faultOf(withFile(file, (files[file] ?? '').replace(from, to)))).toMatch(fault);
  });

  it('is rejected with pages of two exports, each of which the instance has signed', async () => {
    const name = 'signatures.ndjson';
    const pages = linesOf(files[name] ?? '');
    const others = linesOf(signed(files)[name] ?? '');
    expect(await faultOf({ ...files, [name]: textOf(others) })).toBeUndefined();
    for (const [place, other] of others.entries())
      expect(await faultOf({ ...files, [name]: textOf(pages.with(place, other)) })).toMatch(
        /of another export/,
      );
  });

  it('is rejected with pages of another instance, and without any', async () => {
    const claims = {
      iss: 'https://other.example',
      iat,
      export: 'x',
      part: 'models',
      after: null,
      next: null,
    };
    const page = { ...claims, lines: 0, sha256: '' };
    const other = `${canonicalize({ jws: signers[1].page(page) })}\n`;
    expect(await faultOf({ ...files, 'signatures.ndjson': other })).toMatch(
      /signatures\.ndjson, line 1: the page is of https:\/\/other\.example/,
    );
    expect(await faultOf({ ...files, 'signatures.ndjson': '' })).toMatch(
      'signatures.ndjson: the pages of the models are not there without a gap',
    );
  });

  it('without receipts is verified only if that is asked for', async () => {
    const { 'records.ndjson': _, ...rest } = files;
    expect(await faultOf(rest)).toMatch('records.ndjson is missing');
    const found = await verifyFolder(await writeFolder(rest), { withoutReceipts: true });
    expect(found.receipts).toMatchObject({ proved: 0, erased: 0, open: 0, notGiven: 15 });
    expect(await faultOf(files, { withoutReceipts: true })).toMatch('would not be verified');
  });

  it('cannot leave out what a checkpoint from elsewhere states', async () => {
    const held = path.join(await temporaryFolder(), 'held.ndjson');
    await writeFile(held, checkpoints.toReversed().join(''));
    const found = await verifyFolder(await writeFolder(files), { checkpointsFile: held });
    expect(found.checkpoints).toBe(10);
    const later = writeCheckpoint(signers[1], iat + 60, {
      ...logs,
      forms: { size: 16, root: '00'.repeat(32) },
    });
    await writeFile(held, `${checkpoints.join('')}${later}`);
    await expect(verifyFolder(await writeFolder(files), { checkpointsFile: held })).rejects.toThrow(
      'held.ndjson, line 6: the checkpoint states 16 lines of forms',
    );
    const forked = writeCheckpoint(signers[1], iat - 60, { forms: { size: 4, root: '00'.repeat(32) } });
    await writeFile(held, forked);
    await expect(verifyFolder(await writeFolder(files), { checkpointsFile: held })).rejects.toThrow(
      'audit-forms.ndjson: the root of 4 lines is not that of the checkpoint (held.ndjson, line 1)',
    );
  });
});

describe('ten years of checkpoints', () => {
  // The same code as for one a minute in ten years.
  const makeYears = async (count: number) => {
    const signer = createSigner();
    const log = createLog();
    let lines = '';
    const checkpoints: string[] = [];
    for (let index = 0; index < count; index += 1) {
      lines += log.add({ action: 'key.created', target: `key/${index}` });
      checkpoints.push(writeCheckpoint(signer, 1_700_000_000 + index * 60, { auth: log.head() }));
    }
    const unsigned = {
      'audit-auth.ndjson': lines,
      'checkpoints.ndjson': checkpoints.toReversed().join(''),
      'keys.json': `${canonicalize({ instance: madeInstance, keys: [signer.jwk] })}\n`,
      'models.ndjson': '',
      'access-mappings.ndjson': '',
      'records.ndjson': '',
    };
    return writeFolder(signPages(unsigned, signer));
  };
  const cpuOf = async (folder: string) => {
    const before = process.cpuUsage();
    const { checkpoints } = await verifyFolder(folder);
    const { user, system } = process.cpuUsage(before);
    return { checkpoints, cpu: user + system };
  };

  it('take time that grows as their number', async () => {
    const [half, whole] = [await makeYears(1_000), await makeYears(2_000)];
    await cpuOf(half);
    const first = await cpuOf(half);
    const second = await cpuOf(whole);
    expect([first.checkpoints, second.checkpoints]).toEqual([1_000, 2_000]);
    expect(second.cpu).toBeLessThan(first.cpu * 3);
  });

  it('of more sizes than a call may have arguments are verified', async () => {
    const folder = await temporaryFolder();
    const held = path.join(folder, 'held.ndjson');
    const count = 130_000;
    const root = '00'.repeat(32);
    const lines = Array.from({ length: count }, (_, index) => `${JSON.stringify({ at: 0, index, root })}\n`);
    await writeFile(held, lines.join(''));
    const logs = (index: number) => ({ forms: { size: index + 1, root } });
    // The signatures of so many take minutes; what is done with them does not depend on the signature.
    const verify = (_: unknown, { place }: { place: string }) => {
      const index = Number(/\d+$/.exec(place)?.[0]) - 1;
      return { iss: madeInstance, iat: 0, logs: logs(index) };
    };
    const text = lines
      .map(
        (_, index) => `${JSON.stringify({ at: '1970-01-01T00:00:00.000Z', logs: logs(index), jws: '' })}\n`,
      )
      .join('');
    await writeFile(held, text);
    const found = await readHeld(held, { instance: madeInstance, verify });
    expect(found.count).toBe(count);
    const head = { area: 'forms', size: count, root, place: '', mayBeBlanked: true };
    expect([...found.upTo(head)].map(({ size }) => size)).toEqual(lines.map((_, index) => index + 1));
  });
});

it('the command says where the keys come from, and names the fault', async () => {
  const folder = await writeFolder(files);
  const args = thumbprints.flatMap((thumbprint) => ['--thumbprint', thumbprint]);
  const unknown = await runCommand('services/verify.ts', [folder], { env: {} });
  expect(unknown).toMatchObject({ code: 0, output: expect.stringContaining('of unknown origin') });
  const known = await runCommand('services/verify.ts', [folder, ...args], { env: {} });
  expect(known).toMatchObject({ code: 0, output: expect.stringContaining('among those that you gave') });
  // A thumbprint may begin with a hyphen, as an option does.
  for (const others of [args.slice(0, 2), ['--thumbprint', `-${'A'.repeat(42)}`]]) {
    const one = await runCommand('services/verify.ts', [folder, ...others], { env: {} });
    expect(one).toMatchObject({
      code: 1,
      errors: expect.stringContaining('not among the keys from elsewhere'),
    });
  }
});
