import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { startStandalone } from '../support/instances/standalone-process.ts';
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
