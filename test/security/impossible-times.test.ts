import { describe, expect, it } from 'vitest';
import { readContract } from '../support/contract/contract.ts';
import { listOperations, resolve } from '../support/contract/contract-paths.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { impossibleTimes } from '../support/samples/impossible-times.ts';

const instance = useInstance();
const admin = useSetup(() => signIn(instance, 'admin'));
const document = readContract();

interface Parameter {
  name: string;
  in: string;
  description?: string;
}

/** Query parameters that are times. */
const parameters = listOperations(document)
  .filter(({ method, path }) => method === 'get' && !path.startsWith('/federation/'))
  .flatMap(({ path, operation }) => {
    const given = [
      document.paths[path]?.parameters ?? [],
      (operation as { parameters?: unknown[] }).parameters ?? [],
    ].flat();
    return given
      .map((each) => resolve<Parameter>(document, each).value)
      .filter((each) => each.in === 'query' && /^(after|before|asOf|until)$/.test(each.name))
      .map(({ name }) => ({ path, name, operationId: operation.operationId }));
  });

/** Bodies of requests with a time, in the places of all operations that take one. */
const bodies: [string, string, (time: string) => object][] = [
  [
    'POST /decisions',
    '/decisions',
    (asOf) => ({ subject: 'x', asOf, questions: [{ element: 'processing.001' }] }),
  ],
  [
    'a question of POST /decisions',
    '/decisions',
    (asOf) => ({ subject: 'x', questions: [{ asOf, element: 'processing.001' }] }),
  ],
  [
    'AuthZEN',
    '/access/v1/evaluation',
    (asOf) => ({
      subject: { type: 'subject', id: 'x' },
      action: { name: 'process' },
      resource: { type: 'element', id: 'processing.001' },
      context: { asOf },
    }),
  ],
  ['POST /transactions', '/transactions', (after) => ({ after })],
  ['POST /transactions', '/transactions', (before) => ({ before })],
];

it('finds parameters that are times', () => {
  expect(new Set(parameters.map(({ name }) => name))).toEqual(new Set(['after', 'before', 'asOf']));
  expect(parameters.length).toBeGreaterThan(10);
});

describe.each(parameters)('$operationId', ({ path, name }) => {
  it(`refuses times in ${name} that do not exist`, async () => {
    for (const time of impossibleTimes) {
      const query = new URLSearchParams({ subject: 'x', element: 'processing.001', [name]: time });
      const response = await admin.get(`${path.replaceAll(/\{\w+\}/g, 'x')}?${query}`);
      expect(response.status, `${path} ${time}`).toBe(422);
      expect(await response.text()).toContain(`"/${name}"`);
    }
  });
});

describe.each(bodies)('the body of %s', (_name, path, bodyOf) => {
  it('refuses times that do not exist', async () => {
    for (const time of impossibleTimes)
      expect((await admin.send('POST', path, bodyOf(time))).status, time).toBe(422);
  });
});

it('a hold until a time that does not exist is refused', async () => {
  await admin.send('POST', '/subjects', { name: 'held' });
  for (const until of impossibleTimes) {
    const response = await admin.send('PUT', '/subjects/held/hold', { reason: 'A claim', until });
    // The contract itself refuses most of them.
    expect([400, 422], until).toContain(response.status);
  }
});
