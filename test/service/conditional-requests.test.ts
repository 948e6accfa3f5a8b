import { describe, expect, it } from 'vitest';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';

const instance = useInstance();
const admin = useSetup(() => signIn(instance, 'admin'));

describe.each([
  ['a decision', '/decisions?subject=x&element=processing.001'],
  ['a model', '/models/serials/theme.001'],
  ['an asset', '/assets/embed.js'],
  ['an asset of the console', '/console/assets/console.js'],
])('%s', (_name, path) => {
  const ask = (given: Record<string, string> = {}) =>
    fetch(`${instance.url}${path}`, { headers: { ...admin.headers, ...given } });

  it('is not sent to a client that has it, however the client names its tag', async () => {
    const tag = (await ask()).headers.get('etag') ?? '';
    expect(tag).toMatch(/^"[^"]+"$/);
    const strong = [tag, `"other, one",${tag}`, '*'];
    for (const known of [...strong, `W/${tag}`, `"x", W/"y" , W/${tag}`]) {
      const answer = await ask({ 'If-None-Match': known });
      expect([answer.status, answer.headers.get('etag')], known).toEqual([304, tag]);
    }
  });

  it('is sent to a client that has another one', async () => {
    for (const known of ['"x"', 'W/"x"', 'x', '""'])
      expect((await ask({ 'If-None-Match': known })).status).toBe(200);
  });
});

it('a model is not changed by a client that knows it weakly', async () => {
  const found = await admin.get('/models/serials/theme.001');
  const { id } = (await found.json()) as { id: string };
  const headers = {
    ...admin.headers,
    'Content-Type': 'application/json',
    'If-Match': `W/${found.headers.get('etag')}`,
  };
  const body = JSON.stringify({ name: 'Another name' });
  expect((await instance.fetch(`/models/${id}`, { method: 'PUT', headers, body })).status).toBe(412);
});
