import { execFile, spawn } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parse } from 'yaml';
import { createDatabase } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { createModelsApi } from '#lib/models/models-api.ts';
import { planFolder } from '#lib/models/plan-folder.ts';
import { readFolder } from '#lib/models/read-folder.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { addClient } from '../../services/auth/commands/clients.ts';
import { createKeyedHash } from '../../services/auth/domain/api-keys.ts';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction, recordAnswers } from '../support/instances/live-transactions.ts';
import { programEnvironment } from '../support/instances/program-environment.ts';
import { digestIn, modelsProgram } from '../support/programs/run-models.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';

const project = path.join(import.meta.dirname, '..', '..');
const examples = path.join(project, 'examples');

const instance = useInstance();
const admin: Caller = useSetup(() => signIn(instance, 'admin'));
const shop: Caller = useSetup(() => createKey(instance));

const tokenOf = ({ headers }: Caller) => String(headers.Authorization).slice('Bearer '.length);
const environment = () => ({ ACCORD_URL: instance.url, ACCORD_TOKEN: tokenOf(admin) });

const { run: models } = modelsProgram(instance, admin);

/** A copy of an example, whose keys are its own unless `prefix` is ''. */
async function copyOf(example: string, prefix = ''): Promise<string> {
  const folder = path.join(await temporaryFolder(), example);
  await cp(path.join(examples, example), folder, { recursive: true });
  if (prefix)
    await edit(folder, '', (text) =>
      text.replaceAll(new RegExp(`(?<!file: )${example}\\.`, 'g'), `${prefix}.`),
    );
  return folder;
}

/** Changes the YAML files whose names end so. */
async function edit(folder: string, end: string, change: (text: string) => string): Promise<void> {
  for (const name of await filesIn(folder))
    if (name.endsWith(`${end}.yaml`)) {
      const file = path.join(folder, name);
      await writeFile(file, change(await readFile(file, 'utf8')));
    }
}

async function filesIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(folder, path.join(entry.parentPath, entry.name)))
    .toSorted();
}

async function contentsOf(folder: string, names: readonly string[]): Promise<string[]> {
  return Promise.all(names.map((name) => readFile(path.join(folder, name), 'utf8')));
}

async function applyAll(folder: string): Promise<string> {
  const planned = await models('plan', folder);
  expect(planned).toMatchObject({ code: 2, errors: '' });
  const applied = await models('apply', folder, '--plan', digestIn(planned.output));
  expect(applied).toMatchObject({ code: 0, errors: '' });
  return planned.output;
}

describe('the examples', () => {
  it.each(['clinic', 'school', 'shop', 'research'])(
    '%s: passes the notice check, is applied once, and is pulled as it is',
    async (example) => {
      const folder = await copyOf(example);
      const names = await filesIn(folder);
      expect(await readFile(path.join(folder, 'accord.yaml'), 'utf8')).toContain('noticeCheck: faults');
      const before = await contentsOf(folder, names);
      const output = await applyAll(folder);
      expect(output).not.toContain('notice check');
      expect(await models('plan', folder)).toMatchObject({ code: 0 });
      expect(await models('apply', folder, '--plan', digestIn(output))).toMatchObject({
        code: 0,
        output: 'There is nothing to do.\n',
      });
      expect(await models('pull', folder)).toMatchObject({ code: 0 });
      expect(await contentsOf(folder, names)).toEqual(before);
      expect(await models('plan', folder)).toMatchObject({ code: 0 });
      for (const { model } of (await readFolder(path.join(examples, example))).models)
        expect(Object.keys(model.data)).toHaveLength(2);
    },
  );
});

describe('a folder of models', () => {
  it('is made by a pull, with long texts in files, and says the same as the instance', async () => {
    const folder = path.join(await temporaryFolder(), 'new');
    expect(await models('pull', folder)).toMatchObject({ code: 0, errors: '' });
    expect(await models('plan', folder)).toMatchObject({ code: 0 });
    expect(await models('plan', folder, '--prune')).toMatchObject({ code: 0 });
    expect(await filesIn(folder)).toContain('conditions/conditions.001.fr.body.html');
    const names = await filesIn(folder);
    const before = await contentsOf(folder, names);
    await models('pull', folder);
    expect(await contentsOf(folder, names)).toEqual(before);
  });

  it('keeps comments and the order of members when another has changed the model', async () => {
    const folder = await copyOf('shop', 'pulled');
    const mine = '# Ours.\nname: The form # for all\n';
    await edit(folder, 'newsletter', (text) => text.replace(/^name: .*\n/m, mine));
    await applyAll(folder);
    const entry = (await (await admin.get('/models/serials/pulled.newsletter')).json()) as { id: string };
    await admin.send('PUT', `/models/${entry.id}`, { name: 'The letter', description: '' });
    expect((await models('plan', folder)).output).toContain('name: The [-letter-]{+form+}');
    await models('pull', folder);
    const text = await readFile(path.join(folder, 'layout', 'shop.newsletter.yaml'), 'utf8');
    expect(text).toContain('# Ours.\nname: The letter # for all\n');
    expect(text).not.toContain('description');
    expect(await models('plan', folder)).toMatchObject({ code: 0 });
  });

  it('has its faults named by file, line and member, and is not applied', async () => {
    const folder = await copyOf('clinic', 'faulty');
    await edit(folder, 'reports', (text) => text.replace('    title: Reports', '    tittle: Reports'));
    await edit(folder, 'findings', (text) => text.replace('  legalBases:', '  legalBasis:'));
    await edit(folder, 'referral', (text) => text.replace('- faulty.reports', '- faulty.letters'));
    await edit(folder, 'information', (text) => text.replace('en.header.md', '../../../../etc/passwd'));
    await edit(folder, 'family-doctor', (text) => `${text}\n  - [`);
    await rm(path.join(folder, 'information', 'clinic.information.fr.header.md'));
    const { code, errors } = await models('plan', folder);
    expect(code).toBe(1);
    expect(
      errors.split('\n').map((line) => line.replace(/( (is|has|cannot|must|notice)\b).*/, '$1')),
    ).toEqual(
      expect.arrayContaining([
        'processing/clinic.reports.yaml:18: texts.en.tittle is',
        'processing/clinic.reports.yaml:17: texts.en.title is',
        expect.stringMatching(/^processing\/clinic\.findings\.yaml:\d+: common\.legalBasis is$/),
        expect.stringMatching(/^layout\/clinic\.referral\.yaml:11: common\.elements\.0 faulty\.letters is$/),
        expect.stringMatching(/^information\/clinic\.information\.yaml:\d+: texts\.en\.header .*passwd is$/),
        expect.stringMatching(/^information\/clinic\.information\.yaml:\d+: texts\.fr\.header .*md cannot$/),
        expect.stringMatching(/^preference\/clinic\.family-doctor\.yaml:\d+: /),
      ]),
    );
    expect(await models('apply', folder, '--plan', 'x')).toMatchObject({ code: 1, errors });
    expect((await admin.get('/models/serials/faulty.findings')).status).toBe(404);
    expect(await models('plan', '/nowhere')).toMatchObject({ code: 1 });
    expect(await models('apply', folder)).toMatchObject({
      code: 1,
      errors: expect.stringContaining('Usage'),
    });
  });

  it('is applied as it was printed and not otherwise', async () => {
    const folder = await copyOf('shop', 'printed');
    const file = path.join(await temporaryFolder(), 'plan.json');
    await models('plan', folder, '--out', file);
    await edit(folder, 'letter', (text) => text.replace('name: ', 'name: Our '));
    for (const plan of [file, '0'.repeat(64)])
      expect(await models('apply', folder, '--plan', plan)).toMatchObject({
        code: 1,
        errors: expect.stringContaining('The plan is another one now'),
      });
    expect((await admin.get('/models/serials/printed.letter')).status).toBe(404);
    await edit(folder, 'letter', (text) => text.replace('name: Our ', 'name: '));
    expect(await models('apply', folder, '--plan', file)).toMatchObject({ code: 0 });
  });

  it('ends the same after a kill in between', async () => {
    const folder = await copyOf('school', 'killed');
    const digest = digestIn((await models('plan', folder)).output);
    const program = path.join(project, 'services', 'models.ts');
    const child = spawn(process.execPath, [program, 'apply', folder, '--plan', digest], {
      env: { ...programEnvironment, ...environment() },
    });
    child.stdout.once('data', () => child.kill('SIGKILL'));
    await new Promise((done) => child.once('close', done));
    // The step that was on its way at the kill may still be applied: the next run finds it done.
    await expect.poll(async () => (await models('apply', folder, '--plan', digest)).code).toBe(0);
    expect(await models('plan', folder)).toMatchObject({ code: 0 });
    expect((await filesIn(folder)).filter((name) => name.startsWith('.'))).toEqual([]);
    const entry = (await (await admin.get('/models/serials/killed.health')).json()) as {
      versions: unknown[];
    };
    expect(entry.versions).toHaveLength(1);
  });
});

const replaced = (from: string | RegExp, to: string) => (text: string) => text.replace(from, to);

/** Ten changes of one processing, and the type that each is. */
const edits: [what: string, type: 'MAJOR' | 'MINOR', change: (text: string) => string][] = [
  ['other data', 'MAJOR', replaced('data: Your name', 'data: Your age, your name')],
  ['other purposes', 'MAJOR', replaced('CONSENT_MARKETING', 'CONSENT_IMPROVED_SERVICE')],
  ['other recipients', 'MAJOR', replaced('The company that sends', 'The companies that send')],
  ['a longer retention', 'MAJOR', replaced('value: 3', 'value: 4')],
  ['a longer validity', 'MAJOR', replaced('common:', 'common:\n  validity: P3Y')],
  ['another legal basis', 'MAJOR', replaced('LEGAL_BASIS_CONSENT', 'LEGAL_BASIS_CONTRACT')],
  ['another title', 'MINOR', replaced('title: Our newsletter', 'title: Our letter')],
  ['a shorter retention', 'MINOR', replaced('value: 3', 'value: 1')],
  [
    'other words of the use, with a reason',
    'MINOR',
    (text) =>
      text
        .replace('usage: We write', 'usage: We may write')
        .replace('defaultLanguage:', 'change: { after: 1.0, type: MINOR, reason: A word }\ndefaultLanguage:'),
  ],
  ['another name', 'MINOR', replaced(/^name: /m, 'name: Our ')],
];

describe('ten edits', () => {
  it('are proposed as what they are, and those are asked again who were counted', async () => {
    const folder = path.join(await temporaryFolder(), 'edits');
    const source = await readFile(path.join(examples, 'shop', 'processing', 'shop.letter.yaml'), 'utf8');
    await mkdir(folder);
    const keys = edits.map((_, place) => `edit.${place}`);
    const write = (change: (text: string, place: number) => string) =>
      Promise.all(
        keys.map((key, place) =>
          writeFile(path.join(folder, `${key}.yaml`), change(source.replaceAll('shop.letter', key), place)),
        ),
      );
    await write((text) => text);
    await applyAll(folder);
    const answers = (chosen: readonly string[], answer: string) =>
      Object.fromEntries(chosen.map((key) => [`element/processing/${key}/1.0`, [answer]]));
    await recordAnswers(shop, 'edits-ada', answers(keys, 'accepted'));
    await recordAnswers(shop, 'edits-ben', answers(keys, 'refused'));
    await recordAnswers(shop, 'edits-cleo', answers(keys.slice(0, 3), 'accepted'));

    await write((text, place) => edits[place]?.[2](text) ?? text);
    const planned = await planFolder(createModelsApi(apiOf()), await readFolder(folder), false);
    expect(planned.faults).toEqual([]);
    const found = new Map(planned.steps.map(({ step, answers: counted }) => [step.key, { step, counted }]));
    const proposed = keys.map((key) => found.get(key)?.step.version?.type ?? 'MINOR');
    expect(edits.map(([what], place) => [what, proposed[place]])).toEqual(
      edits.map(([what, type]) => [what, type]),
    );
    await applyAll(folder);
    const asked = new Map<string, number>();
    for (const subject of ['edits-ada', 'edits-ben', 'edits-cleo']) {
      const answered = subject === 'edits-cleo' ? keys.slice(0, 3) : keys;
      const made = await createTransaction(shop, {
        subject,
        layoutData: { elements: answered },
        ask: 'CHANGED',
        validity: 'P1Y',
      });
      const form = await subjectOf(instance, made).form();
      for (const { entry } of form.elements) asked.set(entry.key, (asked.get(entry.key) ?? 0) + 1);
    }
    expect(keys.map((key) => asked.get(key) ?? 0)).toEqual(
      keys.map((key) => found.get(key)?.counted?.count ?? 0),
    );
    expect(keys.map((key) => asked.get(key) ?? 0)).toEqual([3, 3, 3, 2, 2, 2, 0, 0, 0, 0]);
  });
});

const apiOf = () => ({ url: instance.url, token: tokenOf(admin) });

describe('the examples for CI', () => {
  async function environmentOfClient(): Promise<Record<string, string>> {
    const pool = createPool({
      url: instance.databaseUrl,
      schema: 'auth',
      log: createLogger({ level: 'error' }),
    });
    onTestFinished(() => pool.end());
    const client = {
      id: `ci-${crypto.randomUUID()}`,
      role: 'author' as const,
      redirectUris: [],
      isPublic: false,
    };
    const output = await addClient(
      createDatabase({ pool }),
      createKeyedHash(instance.secrets.keyPepper),
      client,
    );
    const secret = output.split('\n')[1] ?? '';
    return { ACCORD_URL: instance.url, ACCORD_CLIENT: client.id, ACCORD_SECRET: secret };
  }

  /** The commands of a job but those that install. */
  function commandsOf(text: string): string {
    const read = parse(text) as Record<string, unknown>;
    const jobs = (read.jobs ?? read) as Record<string, { steps?: { run?: string }[]; script?: string[] }>;
    const before = (read['.models'] as { before_script?: string[] } | undefined)?.before_script ?? [];
    const { steps = [], script = [] } = jobs.plan ?? {};
    const commands = [...before, ...steps.flatMap(({ run }) => run ?? []), ...script];
    return commands.filter((command) => command !== 'npm ci').join('\n');
  }

  it.each(['github-actions.yaml', 'gitlab-ci.yaml'])('%s: prints a plan and goes on', async (name) => {
    const commands = commandsOf(await readFile(path.join(examples, 'ci', name), 'utf8'));
    expect(commands).toContain('npm run -s models -- plan examples/clinic');
    const folder = await temporaryFolder();
    const script = commands.replaceAll('plan.json', path.join(folder, 'plan.json'));
    const { stdout } = await promisify(execFile)('sh', ['-ec', script], {
      cwd: project,
      env: { ...process.env, ...(await environmentOfClient()) },
    });
    expect(stdout).toMatch(/^Plan [0-9a-f]{64}: /m);
    expect(await readFile(path.join(folder, 'plan.json'), 'utf8')).toContain('"digest"');
  });
});
