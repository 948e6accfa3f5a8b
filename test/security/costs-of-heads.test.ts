import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signInToConsole } from '../support/console/console-person.ts';
import { signIn } from '../support/instances/callers.ts';
import { noteFigure } from './costs/figures.ts';
import { sendTo } from './costs/send.ts';
import { type Target, targets } from './costs/targets.ts';
import { type WorstHead, worstHeaders, worstQueries } from './costs/worst-heads.ts';
import { type Spent, startWatchedProcess, type WatchedProcess } from './hostile-texts/process-under-test.ts';

let watched: WatchedProcess;
beforeAll(async () => {
  watched = await startWatchedProcess({ TRUSTED_PROXIES: '127.0.0.1/32' });
}, 120_000);
afterAll(() => watched?.stop());

/** CPU time of one turn for a request without a body; an ordinary one takes 1 to 3 ms. */
const mostMs = 40;
const mostTries = 4;
/** The targets that share the headers. */
const sharing = 12;

type Credentials = Record<string, string>;

async function send({ method, path }: Target, head: WorstHead, credentials: Credentials): Promise<number> {
  const address = head.query === undefined ? path : `${path}?${head.query}`;
  const headers = { Accept: 'text/html', ...credentials, ...head.headers };
  const own = method === 'POST' && path.startsWith('/console') ? { 'Sec-Fetch-Site': 'same-origin' } : {};
  return sendTo(watched.instance.url, { method, path: address, headers: { ...own, ...headers } });
}

/** Garbage may be collected in any turn; what is wrong with a request happens every time. */
async function costOf(work: () => Promise<unknown>): Promise<Spent> {
  let least: Spent = { longest: Number.POSITIVE_INFINITY, total: 0 };
  for (let tries = 0; tries < mostTries && least.longest > mostMs; tries += 1) {
    await watched.spent();
    await work();
    const spent = await watched.spent();
    if (spent.longest < least.longest) least = spent;
  }
  return least;
}

/** @returns the requests that kept everybody waiting. */
async function offenders(who: string, target: Target, heads: readonly WorstHead[], credentials: Credentials) {
  const all = async () => {
    for (const head of heads) await send(target, head, credentials);
  };
  const status = await send(target, { name: 'an ordinary one' }, credentials);
  const { longest, total } = await costOf(all);
  noteFigure({
    request: `${target.method} ${target.path}`,
    input: `${heads.length} queries and headers, by ${who}; CPU ms are their mean`,
    status,
    longest,
    total: total / heads.length,
  });
  if (longest <= mostMs) return [];
  const found: string[] = [];
  for (const head of heads) {
    const { longest: ms } = await costOf(() => send(target, head, credentials));
    if (ms > mostMs) found.push(`${target.method} ${target.path}, ${head.name}: ${Math.round(ms)} ms`);
  }
  return found;
}

const shareOf = (turn: number) => worstHeaders.filter((_, index) => index % sharing === turn % sharing);

async function credentialsOf(who: string): Promise<(target: Target) => Credentials> {
  if (who === 'a stranger') return () => ({});
  const { headers } = await signIn(watched.instance, 'admin');
  const { browser } = await signInToConsole(watched.instance.url, 'admin');
  const Cookie = browser
    .cookies()
    .map((raw) => raw.split(';')[0])
    .join('; ');
  return ({ path }) => (path.startsWith('/console') ? { Cookie } : headers);
}

describe.each(['a stranger', 'an administrator'])('%s', (who) => {
  it('cannot keep others waiting with a query or header, whatever it is sent to', async () => {
    const of = await credentialsOf(who);
    const found: string[] = [];
    // Enough to see what it is.
    for (const [turn, target] of targets.entries())
      if (found.length < 10)
        found.push(...(await offenders(who, target, [...worstQueries, ...shareOf(turn)], of(target))));
    expect(found).toEqual([]);
  }, 600_000);
});

it('refuses more parameters than any address has, with a problem document or page', async () => {
  const { fetch, url } = watched.instance;
  const query = 'a&'.repeat(300);
  const refused = await fetch(`/system/config?${query}`);
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { detail: expect.stringMatching(/200 parameters/) },
  ]);
  for (const path of ['/system/config', '/console/sign-in', '/auth/authorize', '/nothing']) {
    const page = await globalThis.fetch(`${url}${path}?${query}`, { headers: { Accept: 'text/html' } });
    expect([path, page.status, await page.text()]).toMatchObject([path, 400, expect.stringMatching(/<html/)]);
  }
  expect((await fetch(`/system/config?${'a&'.repeat(199)}`)).status).toBe(200);
});
