import { readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { type Caller, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { digestIn, modelsProgram } from '../support/programs/run-models.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';

const instance = useInstance();
const admin = useSetup(() => signIn(instance, 'admin'));
const author = useSetup(() => signIn(instance, 'author'));

let folder: string;
let file: string;
beforeEach(async () => {
  folder = await temporaryFolder();
  file = path.join(folder, 'access-mappings.yaml');
  await store([]);
});

/** Runs `npm run models` on the folder. */
const models = (command: string, args: string[] = [], caller: Caller = admin) =>
  modelsProgram(instance, caller).run(command, folder, ...args);
const apply = (...args: string[]) => modelsProgram(instance, admin).apply(folder, ...args);

const store = async (mappings: object[]) =>
  expect((await admin.send('PUT', '/access/mappings', { mappings })).status).toBe(200);
const stored = async () =>
  ((await (await admin.get('/access/mappings')).json()) as { mappings: object[] }).mappings;

const mail = { action: 'send', element: 'processing.001', when: { 'resource.properties.channel': 'mail' } };
const text = { action: 'text', purpose: 'CONSENT_MARKETING', object: 'resource.id' };

it('mappings are planned as a list, applied as it was printed, and pulled as they are', async () => {
  await store([text]);
  const written = `# What the gateway asks.
mappings:
  # Mails.
  - { action: send, element: processing.001, when: { resource.properties.channel: mail } }
  - action: text # Text messages.
    purpose: CONSENT_MARKETING
    object: resource.id
`;
  await writeFile(file, written);
  const output = await apply();
  expect(output).toContain('~ access mappings: changed');
  expect(output).toContain('{+');
  expect(output).toContain('processing.001');
  expect(output).not.toContain('[-');
  expect(await stored()).toEqual([mail, text]);
  expect(await models('plan')).toMatchObject({ code: 0 });
  await models('pull');
  expect(await readFile(file, 'utf8')).toBe(written);

  await store([text, { ...mail, action: 'write' }]);
  const { output: pulled } = await models('pull');
  expect(pulled).toContain('written access-mappings.yaml');
  const changed = await readFile(file, 'utf8');
  expect(changed).toMatch(/^# What the gateway asks\.\nmappings:\n {2}- action: text # Text messages\.\n/);
  expect(changed).toContain('action: write');
  expect(await models('plan')).toMatchObject({ code: 0 });
});

it('the order of mappings counts, and a plan that has become another one is not applied', async () => {
  await store([mail, text]);
  await models('pull');
  const { output } = await models('plan');
  expect(output).toContain('0 changed');
  await store([text, mail]);
  const { output: planned } = await models('plan');
  expect(planned).toContain('1 changed');
  await store([text]);
  expect(await models('apply', ['--plan', digestIn(planned)])).toMatchObject({
    code: 1,
    errors: expect.stringContaining('The plan is another one now'),
  });
  expect(await stored()).toEqual([text]);
});

it('a mapping may name an element that the same plan creates', async () => {
  await writeFile(
    path.join(folder, 'letter.yaml'),
    `key: mapped.letter
type: processing
name: Letter
defaultLanguage: en
texts: { en: { title: Letter, data: Name, usage: To write, retention: { fullText: A year } } }
`,
  );
  await writeFile(file, 'mappings:\n  - element: mapped.letter\n');
  const output = await apply();
  expect(output).toMatch(/\+ processing mapped\.letter[\s\S]*\+ access mappings: created/);
  expect(await stored()).toEqual([{ element: 'mapped.letter' }]);
});

it('what is wrong is named by file, line and member, and nothing is applied', async () => {
  await store([text]);
  await writeFile(
    file,
    `mappings:
  - action: send
    element: no.such.key
  - element: processing.001
    purpose: CONSENT_MARKETING
  - element: processing.001
    when: { context.time: now }
`,
  );
  const { code, errors } = await models('plan');
  expect(code).toBe(1);
  expect(errors.split('\n').map((line) => line.replace(/ must .*/, ''))).toEqual([
    'access-mappings.yaml:3: mappings.0.element',
    'access-mappings.yaml:4: mappings.1.element',
    'access-mappings.yaml:7: mappings.2.when.context.time',
    '',
  ]);
  for (const [other, line] of [
    [
      'mappings:\n  - element: processing.001\n    elment: x\n',
      /access-mappings\.yaml:3: mappings\.0\.elment /,
    ],
    ['mappings: none\n', /access-mappings\.yaml: mappings must be a list/],
    ['mappings: []\nmore: 1\n', /access-mappings\.yaml:2: more is not a member/],
  ] as const) {
    await writeFile(file, other);
    expect(await models('plan')).toMatchObject({ code: 1, errors: expect.stringMatching(line) });
  }
  expect(await stored()).toEqual([text]);
});

it('without their file they stay, and are removed by --prune alone', async () => {
  await store([mail]);
  expect((await models('plan')).output).not.toContain('access mappings');
  await models('pull');
  expect(await models('plan', ['--prune'])).toMatchObject({ code: 0 });
  await rm(file);
  expect(await apply('--prune')).toContain('- access mappings: archived');
  expect(await stored()).toEqual([]);
  await models('pull');
  await expect(readFile(file)).rejects.toThrow('ENOENT');
});

it('an author neither pulls nor plans them', async () => {
  await store([mail]);
  expect(await models('pull', [], author)).toMatchObject({ code: 0, errors: '' });
  await expect(readFile(file)).rejects.toThrow('ENOENT');
  expect((await models('plan', ['--prune'], author)).output).not.toContain('access mappings');
  await writeFile(file, 'mappings: []\n');
  expect(await models('plan', [], author)).toMatchObject({
    code: 1,
    errors: 'access-mappings.yaml: needs the access token of an administrator\n',
  });
});

it('a dry run stores nothing', async () => {
  const response = await admin.send('PUT', '/access/mappings?dryRun=true', { mappings: [mail] });
  expect(response.status).toBe(200);
  expect(await response.json()).toEqual({ mappings: [mail] });
  expect(await stored()).toEqual([]);
});
