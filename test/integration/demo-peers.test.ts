import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { choicesVisitor } from '../support/instances/choices-visitor.ts';
import { startStandalone } from '../support/instances/standalone-process.ts';
import { leadsTo, linkIn } from '../support/network/mail-server.ts';
import { until } from '../support/run/until.ts';

it('npm run demo:peers pairs three instances and says what it is doing, and prints a form with a question of each, whose answers reach all three; SIGTERM ends them all', async () => {
  const program = path.join(import.meta.dirname, '..', '..', 'deploy', 'demo-peers', 'run.ts');
  const demo = startStandalone({}, program);
  onTestFinished(async () => void (await demo.stop()));
  await demo.ready;
  // Nothing that looks like trouble greets whoever tries it.
  expect(demo.said()).not.toContain('"level"');
  const steps = [...demo.said().matchAll(/^\[(\d)\/7\] .+ …$/gm)].map(([, step]) => Number(step));
  expect(steps).toEqual([1, 2, 3, 4, 5, 6, 7]);
  const form = /^The form, with a question of each: (\S+)$/m.exec(demo.said())?.[1] as string;
  const page = await (await fetch(form, { headers: { Accept: 'text/html' } })).text();
  for (const title of ['Letter to your family doctor', 'A study of sleep', 'An interview about your stay'])
    expect(page).toContain(title);
  await answerAll(new URL(form));
  await lookEverywhere(/ a code: (\S+)$/m.exec(demo.said())?.[1] as string);
  const urls = demo.said().match(/http:\/\/localhost:\d+$/gm) ?? [];
  expect(new Set(urls).size).toBe(3);
  expect((await demo.stop()).code).toBe(0);
  for (const url of urls) await expect(fetch(url)).rejects.toThrow();
}, 240_000);

interface Shown {
  elements: { identifier: string }[];
  followers: { state: string }[];
}

/** Accepts whatever the form asks, and waits until each owner has its answer. */
async function answerAll({ origin, pathname, search }: URL): Promise<void> {
  const read = async (path: string) => (await (await fetch(`${origin}${path}${search}`)).json()) as Shown;
  const { elements } = await read(`${pathname}/submit`);
  const submitted = await fetch(`${origin}${pathname}/submit${search}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(Object.fromEntries(elements.map(({ identifier }) => [identifier, ['accepted']]))),
  });
  expect(submitted.status).toBe(200);
  await until(async () => {
    const { followers } = await read(pathname);
    expect(followers.map(({ state }) => state)).toEqual(['ACCEPTED', 'ACCEPTED']);
  });
}

type Kept = { to: string; text: string };

/** A person answers at the address of the form, and looks at the choices of each organisation. */
async function lookEverywhere(address: string): Promise<void> {
  const to = 'ann@example.org';
  const { origin } = new URL(address);
  const begun = await fetch(address, {
    method: 'POST',
    headers: { Accept: 'text/html' },
    body: new URLSearchParams({ emailAddress: to }),
    redirect: 'manual',
  });
  const form = new URL(begun.headers.get('location') ?? '');
  const transaction = form.pathname.replace('/submit', '');
  const { elements } = (await (await fetch(form)).json()) as Shown;
  const post = (path: string, body: object) =>
    fetch(`${origin}${transaction}${path}${form.search}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(body),
    });
  await post('/submit', Object.fromEntries(elements.map(({ identifier }) => [identifier, ['accepted']])));
  const newest = (at: string, count: number) =>
    until(async () => {
      const kept = (await (await fetch(`${at}/demo/messages`)).json()) as Kept[];
      const own = kept.filter((each) => each.to === to);
      expect(own).toHaveLength(count);
      return own[0] as Kept;
    });
  const [code] = /(?<!\d)\d{6}(?!\d)/.exec((await newest(origin, 1)).text) ?? [];
  expect((await post('/confirm', { code })).status).toBe(200);
  const open = async (at: string, asked: object, mails: number) => {
    await fetch(`${at}/choices/link`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify(asked),
    });
    const visitor = choicesVisitor({ url: at, fetch: (path, init) => fetch(new URL(path, at), init) });
    await visitor.post(await leadsTo(linkIn(await newest(at, mails))));
    return visitor;
  };
  const home = await open(origin, { address: to }, 2);
  const pages = await until(async () => {
    const sent = (await home.read()).flatMap((each) => each.sent ?? []);
    expect(sent.map(({ state }) => state)).toEqual(['RECEIVED', 'RECEIVED']);
    return sent.map(({ page }) => new URL(page ?? ''));
  });
  for (const page of pages) {
    const there = await open(page.origin, { from: page.hash.replace('#from=', '') }, 1);
    expect((await there.read())[0]?.choices).toHaveLength(1);
    expect(await (await there.get('/choices')).text()).toContain('My choices at Lakeside Hospital');
  }
}
