import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import { startTestInstance, useInstance, useSetup } from '../support/instances/instance.ts';
import { activateContent, makeLiveModel, withdrawModel } from '../support/instances/live-models.ts';
import { letter, often, study } from '../support/instances/live-subject.ts';
import {
  createTransaction,
  recordAnswers,
  recordsOf,
  submitForCode,
} from '../support/instances/live-transactions.ts';
import { listenAsProduct } from '../support/instances/other-product.ts';
import { runCommand } from '../support/programs/run-command.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

type Entry = components['schemas']['Entry'];

const old = useInstance();
const fresh = useInstance();
const [oldAdmin, freshAdmin] = [useSetup(() => signIn(old, 'admin')), useSetup(() => signIn(fresh, 'admin'))];
const key = useSetup(() => createKey(old));
const tokenOf = ({ headers }: Caller) => headers.Authorization?.replace('Bearer ', '') ?? '';
const run = (args: readonly string[], credential: Record<string, string> = { SOURCE_KEY: key.key }) =>
  runCommand('services/import.ts', ['--from', 'interface', '--url', old.url, ...args], {
    env: { ACCORD_URL: fresh.url, ACCORD_TOKEN: tokenOf(freshAdmin), ...credential },
  });

/** What a person has answered, without what each instance gives ids of its own. */
async function answersOf(caller: Caller, subject: string) {
  const records = await recordsOf(caller, subject);
  return Object.fromEntries(
    Object.entries(records).map(([question, answers]) => [
      question,
      answers.map(({ values, status, infoKey, infoSerial, bodySerial, object, comment, ...record }) => ({
        answer: [values, status, infoKey, infoSerial, bodySerial, object, comment],
        given: record.creationTimestamp,
        expires: record.expirationTimestamp,
        author: record.author,
      })),
    ]),
  );
}

async function decisionsOf(caller: Caller, subject: string, elements: readonly string[]) {
  const body = { subject, questions: elements.map((element) => ({ element })) };
  const { decisions } = (await (await caller.send('POST', '/decisions', body)).json()) as {
    decisions: Record<string, unknown>[];
  };
  return decisions.map(({ allowed, reason, given, expires, serial }) => ({
    allowed,
    reason,
    given,
    expires,
    serial,
  }));
}

const importOld = (rows: readonly object[]) =>
  old.fetch('/records/import', {
    method: 'POST',
    headers: { ...oldAdmin.headers, 'Content-Type': 'application/x-ndjson' },
    body: rows.map((row) => JSON.stringify(row)).join('\n'),
  });

describe('npm run import -- --from interface', () => {
  it('brings models with their serials and answers of every kind, once', async () => {
    const boxes = 'element/preference/preference.002/1.0';
    const words = 'element/preference/preference.003/1.0';
    const terms = 'element/conditions/conditions.001/1.0';
    const news = await makeLiveModel(oldAdmin, 'processing', {
      en: { ...sampleContent.processing, validity: 'P2Y' },
    });
    await recordAnswers(oldAdmin, 'first version', { [`element/processing/${news.key}/1.0`]: ['accepted'] });
    await activateContent(oldAdmin, news, {
      en: { ...sampleContent.processing, title: 'Letters', validity: 'P2Y' },
    });
    await recordAnswers(oldAdmin, 'minor', { [`element/processing/${news.key}/1.1`]: ['accepted'] });
    await activateContent(
      oldAdmin,
      news,
      { en: { ...sampleContent.processing, data: 'Name, address' } },
      'MAJOR',
    );
    await recordAnswers(oldAdmin, 'major', { [`element/processing/${news.key}/2.0`]: ['refused'] });
    const gone = await makeLiveModel(oldAdmin, 'processing', { en: sampleContent.processing });
    await recordAnswers(oldAdmin, 'archived', { [`element/processing/${gone.key}/1.0`]: ['accepted'] });
    await withdrawModel(oldAdmin, gone);
    const removed = await makeLiveModel(oldAdmin, 'processing', { en: sampleContent.processing });
    await recordAnswers(oldAdmin, 'of a deleted model', {
      [`element/processing/${removed.key}/1.0`]: ['accepted'],
    });
    expect((await oldAdmin.send('DELETE', `/models/${removed.id}`)).status).toBe(204);
    const info = await makeLiveModel(oldAdmin, 'information', { en: { title: 'Who we are' } });
    const layoutData = { info: info.key, elements: ['processing.001'] };
    await recordAnswers(oldAdmin, 'other information', { [letter]: ['accepted'] }, { layoutData });
    await recordAnswers(oldAdmin, 'Zoë Ångström', {
      [letter]: ['accepted'],
      [study]: ['refused'],
      [often]: ['Once a month'],
    });
    await recordAnswers(oldAdmin, 'withdrawn', { [letter]: ['accepted'] });
    await oldAdmin.send('POST', '/choices/withdraw', { subject: 'withdrawn' });
    await recordAnswers(oldAdmin, 'refused after', { [letter]: ['accepted'], [study]: ['accepted'] });
    await recordAnswers(oldAdmin, 'refused after', { [letter]: ['refused'] });
    await recordAnswers(oldAdmin, 'accepted again', { [letter]: ['refused'] });
    await recordAnswers(oldAdmin, 'accepted again', { [letter]: ['accepted'] });
    const options = Object.values(await optionsOf('preference.002'));
    await recordAnswers(oldAdmin, 'several', { [boxes]: options.slice(0, 2) });
    await recordAnswers(oldAdmin, 'several', {
      [boxes]: options.slice(0, 1),
      [words]: ['=1+1, "quoted"\nand\tmore'],
    });
    await recordAnswers(oldAdmin, 'none of them', { [boxes]: [] });
    await recordAnswers(oldAdmin, 'terms', { [terms]: ['accepted'] });
    await recordAnswers(
      oldAdmin,
      'objects',
      { [letter]: ['accepted'] },
      { object: 'card 1', author: 'mother' },
    );
    await recordAnswers(oldAdmin, 'objects', { [letter]: ['refused'] }, { object: 'card 2' });
    await recordAnswers(oldAdmin, 'expired', { [letter]: ['accepted'] }, { validity: 'PT1S' });
    const { id } = await createTransaction(oldAdmin, {
      subject: 'remark',
      layoutData: { elements: ['processing.001'] },
    });
    await oldAdmin.send('POST', `/consents/${id}/submit`, {
      [letter]: ['accepted'],
      comment: 'by telephone',
    });
    const coded = await submitForCode(oldAdmin, { subject: 'coded' });
    await oldAdmin.send('POST', `/consents/${coded.id}/confirm`, { code: coded.code });
    const late = await submitForCode(oldAdmin, { subject: 'late' });
    await oldAdmin.send('POST', '/choices/withdraw', { subject: 'late' });
    await oldAdmin.send('POST', `/consents/${late.id}/confirm`, { code: late.code });
    await submitForCode(oldAdmin, { subject: 'waits for a code' });
    const row = { element: 'processing.001', serial: '1.0', answer: ['accepted'], source: 'CRM' };
    const year = (number: number) => new Date(Date.UTC(2020, 0, 1 + number)).toISOString();
    const taken = Array.from({ length: 230 }, (_, number) => ({
      ...row,
      subject: 'long history',
      answer: [number % 2 ? 'accepted' : 'refused'],
      given: year(number),
      validity: 'P20Y',
      sourceId: `row ${number}`,
    }));
    expect((await importOld(taken)).status).toBe(200);
    const person = (await (await oldAdmin.get('/subjects/terms')).json()) as { id: string };
    await oldAdmin.send('PUT', `/subjects/${person.id}`, {
      emailAddress: 'terms@example.org',
      defaultLanguage: 'fr',
    });

    const dry = await run(['--dry-run']);
    expect([dry.code, dry.errors]).toEqual([0, expect.not.stringContaining('unknown')]);
    expect(dry.output).toMatch(/^Would make 4 models with 6 versions here\.$/m);
    expect(dry.output).toMatch(/^It would be: 261 rows: 261 created, 0 unchanged, 0 rejected\.$/m);
    expect((await freshAdmin.get(`/models/serials/${news.key}`)).status).toBe(404);

    const moved = await run([]);
    expect([moved.code, moved.output]).toEqual([
      0,
      expect.stringMatching(/^261 rows: 261 created, 0 unchanged, 0 rejected\.$/m),
    ]);
    expect(moved.output).toContain('Not carried: 3 answers that wait for a code or for a peer.');
    expect(moved.output).toContain('Not carried: 1 consents that were withdrawn before they took effect.');
    expect(moved.output).toContain('Not carried: 1 deletions of models, which are INACTIVE here.');
    expect(moved.output).toContain('webhooks');

    const elements = [news.key, gone.key, 'processing.001', 'processing.002', 'conditions.001'];
    const people = (await (await oldAdmin.get('/subjects?limit=200')).json()) as { name: string }[];
    expect(people.length).toBeGreaterThan(15);
    // The consent that was withdrawn while it waited stays behind: the rest is the refusal.
    expect((await decisionsOf(freshAdmin, 'late', ['processing.001']))[0]).toMatchObject({
      reason: 'REFUSED',
    });
    for (const { name } of people.filter((each) => each.name !== 'late')) {
      if (!['coded', 'waits for a code'].includes(name))
        expect(await answersOf(freshAdmin, name), name).toEqual(await answersOf(oldAdmin, name));
      expect(await decisionsOf(freshAdmin, name, elements), name).toEqual(
        await decisionsOf(oldAdmin, name, elements),
      );
    }
    const [proven] = (await recordsOf(freshAdmin, 'terms'))['conditions.001'] ?? [];
    expect(proven?.imported).toMatchObject({ evidence: 'RECEIPT', verified: true, source: old.url });
    const [again] = (await recordsOf(freshAdmin, 'long history'))['processing.001'] ?? [];
    expect(again?.imported).toMatchObject({ source: 'CRM', sourceId: 'row 229' });
    expect(await (await freshAdmin.get('/subjects/terms')).json()).toMatchObject({
      emailAddress: 'terms@example.org',
      defaultLanguage: 'fr',
    });
    const serialsOf = async (caller: Caller, name: string) =>
      ((await (await caller.get(`/models/serials/${name}`)).json()) as Entry).versions.map(
        ({ serial, status }) => `${serial} ${status}`,
      );
    for (const name of [news.key, gone.key, info.key])
      expect(await serialsOf(freshAdmin, name)).toEqual(await serialsOf(oldAdmin, name));

    const second = await run([], { SOURCE_TOKEN: tokenOf(oldAdmin) });
    expect(second.output).toMatch(/^261 rows: 0 created, 261 unchanged, 0 rejected\.$/m);
    expect(second.output).not.toContain('Made');
  });

  it('signs in as a person with the password grant, as existing clients do', async () => {
    const credential = { SOURCE_CLIENT_ID: 'cmclient', SOURCE_USERNAME: 'operator', SOURCE_PASSWORD: 'demo' };
    expect((await run(['--dry-run'], credential)).code).toBe(0);
    expect((await run(['--dry-run'], {})).errors).toContain('SOURCE_KEY');
  });

  it('says how many receipts come without their signature, because the token reads none', async () => {
    const dry = await run(['--dry-run'], { SOURCE_TOKEN: tokenOf(await signIn(old, 'auditor')) });
    expect(dry.output).toMatch(
      /^Not carried: \d+ signatures of receipts, which this access token does not read\.$/m,
    );
    expect((await run(['--dry-run'])).output).not.toContain('signatures of receipts');
  });

  it('reads an instance that has no more than the interface, at a path of its own', async () => {
    const other = await startTestInstance();
    const proxy = await listenAsProduct(old.url);
    try {
      const there = await signIn(other, 'admin');
      // What a run has left that was stopped between a draft and its activation.
      const [missing] = await modelsOnlyIn(oldAdmin, there);
      if (!missing) throw new Error('the instances have the same models');
      const { key: name, type } = missing;
      const made = (await (await there.send('POST', '/models', { key: name, type, name })).json()) as Entry;
      const [first] = await versionsOf(oldAdmin, missing.id);
      await there.send('POST', `/models/${made.id}/versions`, { defaultLanguage: 'en', data: first?.data });

      const to = { ACCORD_URL: other.url, ACCORD_TOKEN: tokenOf(there), SOURCE_KEY: key.key };
      const args = ['--from', 'interface', '--url', `${proxy.url}/cm/`];
      const moved = await runCommand('services/import.ts', args, { env: to });
      expect([moved.code, moved.output]).toEqual([0, expect.stringContaining('0 rejected')]);
      const [answer] = (await recordsOf(there, 'terms'))['conditions.001'] ?? [];
      expect(answer?.imported).toMatchObject({ source: `${proxy.url}/cm`, evidence: 'URL', verified: false });
      expect(await answersOf(there, 'long history')).toEqual(await answersOf(oldAdmin, 'long history'));
      const again = await runCommand('services/import.ts', args, { env: to });
      expect(again.output).toMatch(/rows: 0 created, \d+ unchanged, 0 rejected\.$/m);
    } finally {
      proxy.close();
      await other.stop();
    }
  });

  it('takes no answer over if a version says something else here', async () => {
    const other = await startTestInstance();
    try {
      const there = await signIn(other, 'admin');
      const data = { en: { ...sampleContent.processing, title: 'Another letter' } };
      const entry = (await (await there.get('/models/serials/processing.001')).json()) as Entry;
      await activateContent(there, { id: entry.id, key: entry.key }, data, 'MAJOR');
      await recordAnswers(there, 'newer', { 'element/processing/processing.001/2.0': ['accepted'] });
      const to = { ACCORD_URL: other.url, ACCORD_TOKEN: tokenOf(there) };
      expect((await run(['--dry-run'], { SOURCE_KEY: key.key, ...to })).code).toBe(0);
      const back = await runCommand('services/import.ts', ['--from', 'interface', '--url', other.url], {
        env: { ACCORD_URL: fresh.url, ACCORD_TOKEN: tokenOf(freshAdmin), SOURCE_TOKEN: tokenOf(there) },
      });
      expect(back.output).toMatch(/1 created/);
      await activateContent(
        oldAdmin,
        await modelOf('processing.001'),
        { en: sampleContent.processing },
        'MAJOR',
      );
      const folder = await temporaryFolder();
      const refused = await run(['--rejected', path.join(folder, 'rejected')]);
      expect([refused.code, refused.errors]).toEqual([
        1,
        expect.stringContaining('processing processing.001/2.0: says something else here'),
      ]);
      await expect(readFile(path.join(folder, 'rejected'))).rejects.toThrow('ENOENT');
    } finally {
      await other.stop();
    }
  });
});

async function modelsOnlyIn(one: Caller, other: Caller): Promise<Entry[]> {
  const processings = async (caller: Caller) =>
    ((await (await caller.get('/models?types=processing&size=200')).json()) as { values: Entry[] }).values;
  const here = (await processings(other)).map(({ key: name }) => name);
  return (await processings(one)).filter(({ key: name }) => !here.includes(name));
}

/** The first one first. */
async function versionsOf(caller: Caller, id: string): Promise<components['schemas']['Version'][]> {
  const versions = await (await caller.get(`/models/${id}/versions`)).json();
  return (versions as components['schemas']['Version'][]).toReversed();
}

async function modelOf(name: string): Promise<{ id: string; key: string }> {
  const { id, key: known } = (await (await oldAdmin.get(`/models/serials/${name}`)).json()) as Entry;
  return { id, key: known };
}

async function optionsOf(name: string): Promise<string[]> {
  const { id } = await modelOf(name);
  const [active] = (await (await oldAdmin.get(`/models/${id}/versions`)).json()) as {
    data: { en: { options: string[] } };
  }[];
  return active?.data.en.options ?? [];
}
