import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ConsolePerson, signInToConsole } from '../support/console/console-person.ts';
import { signIn } from '../support/instances/callers.ts';
import type { LiveModel } from '../support/instances/live-models.ts';
import { noteFigure } from './costs/figures.ts';
import { type LargestThings, storeLargest } from './costs/largest-texts.ts';
import { startWatchedProcess, type WatchedProcess } from './hostile-texts/process-under-test.ts';

const patienceMs = 10 * 60_000;
let watched: WatchedProcess;
let things: LargestThings;
let person: ConsolePerson;
beforeAll(async () => {
  watched = await startWatchedProcess();
  things = await storeLargest(watched.instance);
  person = await signInToConsole(watched.instance.url, 'admin');
}, patienceMs);
afterAll(() => watched?.stop());

/** CPU time of one turn: more than twice what a quiet machine takes for the dearest of these. */
const mostMs = 250;
const mostTries = 3;

type Visit = [name: string, path: string, accept?: string];

/** The pages of an entry in the console. */
const pagesOf = (room: string, key: string, version: string): string[] =>
  ['', '/edit', '/name', '/archive', `/versions/${version}/page`, `/versions/${version}/changes`, '/export']
    .concat(room === 'forms' ? ['/preview', `/versions/${version}`, '/try'] : [])
    .map((page) => `/console/${room}/${key}${page}`);

async function visit([, path, accept = 'text/html']: Visit): Promise<number> {
  if (path.startsWith('/console')) return (await person.open(path)).status;
  const { headers } = await signIn(watched.instance, 'admin');
  const response = await fetch(new URL(path, watched.instance.url), {
    headers: { ...headers, Accept: accept },
  });
  await response.arrayBuffer();
  return response.status;
}

async function offenders(name: string, send: () => Promise<number>): Promise<string[]> {
  let fault = '';
  let figure = { longest: Number.POSITIVE_INFINITY, total: 0, status: 0 };
  for (let tries = 0; tries < mostTries && (tries === 0 || fault); tries += 1) {
    await watched.spent();
    const status = await send();
    const spent = await watched.spent();
    if (spent.longest < figure.longest) figure = { ...spent, status };
    // A PDF that had no processor time on a busy machine is a 503.
    fault = status >= 500 && status !== 503 ? `${name}: ${status}` : '';
    if (spent.longest > mostMs) fault = `${name}: ${Math.round(spent.longest)} ms in one turn`;
  }
  noteFigure({ request: name, input: 'the largest texts that are stored', ...figure });
  return fault ? [fault] : [];
}

async function offendersOf(visits: readonly Visit[]): Promise<string[]> {
  const found: string[] = [];
  for (const each of visits) found.push(...(await offenders(each[0], () => visit(each))));
  return found;
}

const types = ['application/json', 'text/html', 'text/plain', 'application/xml', 'application/ld+json'];

it(
  'the largest form is shown, answered and receipted in every format without a long turn',
  async () => {
    const { admin, forms } = things;
    for (const { open, answered, layout, answers } of forms) {
      const form = `/consents/${open.id}/submit?t=${open.token}`;
      const visits: Visit[] = [
        ['form', form, 'application/json'],
        ['form as page', form],
        ['form as page in another language', `${form}&lang=fr`],
        ...types.map((type): Visit => [`receipt as ${type}`, `/receipts/${answered.id}`, type]),
        ['receipt as PDF', `/receipts/${answered.id}`, 'application/pdf'],
        ['receipt as JWS', `/receipts/${answered.id}`, 'application/jose'],
        ['transaction', `/consents/${answered.id}`, 'application/json'],
        ['messages', `/consents/${answered.id}/messages`, 'application/json'],
        ['messages of the demonstration', '/demo/messages'],
        ['style sheet', `/assets/themes/${things.models.theme.key}/1.1.css`, 'text/css'],
      ];
      expect(await offendersOf(visits)).toEqual([]);
      const again = async () => {
        const context = { subject: `person-${randomUUID()}`, layout: layout.key };
        const made = (await (await admin.send('POST', '/consents', context)).json()) as { id: string };
        return (await admin.send('POST', `/consents/${made.id}/submit`, answers)).status;
      };
      expect(await offenders('answers', again)).toEqual([]);
    }
  },
  patienceMs,
);

it(
  'the person who answered it is shown and exported without a long turn',
  async () => {
    for (const { answered } of things.forms) {
      const { id, subject } = answered;
      const visits: Visit[] = [
        ['records', `/records?subject=${subject}`, 'application/json'],
        ['records as CSV', `/records?subject=${subject}`, 'text/csv'],
        ['records of a subject', `/subjects/${subject}/records`, 'application/json'],
        ['export', `/subjects/${subject}/export`, 'application/json'],
        ['export as page', `/subjects/${subject}/export`],
        ['evidence', '/audit/consents', 'application/json'],
        ...['', '/link', '/withdraw', '/child'].map((page): Visit => {
          const path = `/console/transactions/${id}${page}`;
          return [`/console/transactions/:txid${page}`, path];
        }),
      ];
      const list = await person.post('/console/subjects', { word: subject });
      const path = /href="(\/console\/subjects\/[\w-]{20,})"/.exec(list.html)?.[1] ?? '';
      for (const page of ['', '/edit', '/record', '/json', '/export', '/document/export', '/erase', '/hold'])
        visits.push([`/console/subjects/:s${page}`, `${path}${page}`]);
      expect(await offendersOf(visits)).toEqual([]);
    }
  },
  patienceMs,
);

it(
  'every largest model is read, previewed, compared and edited without a long turn',
  async () => {
    const found: string[] = [];
    for (const [type, { id, key }] of Object.entries({
      ...things.models,
      layout: things.forms[0]?.layout as LiveModel,
    })) {
      const admin = await signIn(watched.instance, 'admin');
      const [latest] = (await (await admin.get(`/models/${id}/versions`)).json()) as { id: string }[];
      const version = String(latest?.id);
      const of = (path: string): Visit => [
        `${type}: ${path.replace(id, ':id').replace(version, ':vid')}`,
        path,
        'application/json',
      ];
      const api = ['', '/versions', '/export', `/versions/${version}`].map((path) =>
        of(`/models/${id}${path}`),
      );
      const pages = pagesOf(type === 'layout' ? 'forms' : 'elements', key, version).map(
        (path): Visit => [`${type}: ${path.replace(key, ':key').replace(version, ':vid')}`, path],
      );
      found.push(...(await offendersOf([...api, ...pages])));
      const preview = async () =>
        (await admin.send('POST', `/models/${id}/versions/${version}/preview`, { language: 'en' })).status;
      found.push(...(await offenders(`${type}: preview`, preview)));
    }
    expect(found).toEqual([]);
  },
  patienceMs,
);

/** Of a page, whose comparisons stop at a budget of 400 ms together. */
const mostOfPageMs = 4_000;

it(
  'a form that asks only what changed in the largest texts compares them without a long turn, and not for ever',
  async () => {
    for (const { askChanged } of things.forms) {
      const { id, token } = await askChanged();
      const form = `/consents/${id}/submit?t=${token}`;
      await watched.spent();
      const page = await (
        await fetch(new URL(form, watched.instance.url), { headers: { Accept: 'text/html' } })
      ).text();
      expect(page).toMatch(/<(ins|del)\b/);
      const { total } = await watched.spent();
      expect(total).toBeLessThan(mostOfPageMs);
      const visits: Visit[] = [
        ['form that asks what changed', form, 'application/json'],
        ['form that asks what changed, as page', form],
      ];
      expect(await offendersOf(visits)).toEqual([]);
    }
  },
  patienceMs,
);
