import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';
import {
  type Cell,
  expected,
  operations,
  type Prepared,
  prepare,
  sendPrepared,
} from './authorisation/cells.ts';
import { type Credential, makeCredentials, signToken } from './authorisation/credentials.ts';
import type { Outcome } from './authorisation/oracle.ts';
import { type Recipe, recipes } from './authorisation/requests.ts';
import { createResources, type Resources } from './authorisation/resources.ts';
import { createStoreReader } from './authorisation/what-is-stored.ts';

let instance: TestInstance;
let resources: Resources;
let credentials: Credential[];
let store: Awaited<ReturnType<typeof createStoreReader>>;
beforeAll(async () => {
  instance = await startTestInstance();
  resources = await createResources(instance);
  credentials = await makeCredentials(instance);
  store = await createStoreReader(instance);
}, 60_000);
afterAll(async () => {
  await store?.end();
  await resources?.partner.close();
  await instance?.stop();
});

it('covers exactly the operations of the contract', () => {
  expect(Object.keys(recipes).sort()).toEqual(operations.map(({ operationId }) => operationId).sort());
});

it('rejects an expired token as expired', async () => {
  const headers = { Authorization: `Bearer ${await signToken(instance)}` };
  expect((await instance.fetch('/user', { headers })).status).toBe(200);
});

function outcomeOf({ status }: Response, { letIn = 409 }: Recipe): Outcome | number {
  // 409: it was let in, and found it done already.
  return status < 400 || status === letIn ? 'allowed' : status;
}

/** All of a refusal but what differs from request to request. */
async function describeRefusal({ params }: Prepared, response: Response) {
  const body = params.reduce(
    (text, param) => text.replaceAll(encodeURIComponent(param), '…'),
    await response.text(),
  );
  const passing = ['date', 'x-request-id', 'content-length'];
  return {
    status: response.status,
    headers: [...response.headers].filter(([name]) => !passing.includes(name)),
    body,
  };
}

/** Transaction tokens in a text, and in the payloads of what is signed in it. */
function tokensIn(text: string): string[] {
  return [...text.matchAll(/(eyJ[\w-]+)\.([\w-]+)\.[\w-]+/g)].flatMap(([jws, header = '', payload = '']) => {
    const read = (part: string) => Buffer.from(part, 'base64url').toString();
    return read(header).includes('accord-tx+jwt') ? [jws] : tokensIn(read(payload));
  });
}

describe.each(operations)('$operationId', (operation) => {
  const { relations } = operation.recipe;
  const withBody = operation.contract.requestBody !== undefined;
  const malformed = { body: '{"a', headers: { 'Content-Type': 'application/json' } };
  const ofNoType = { body: '{"a', headers: { 'Content-Type': 'image/x-strange' } };

  it('admits only the roles in x-roles; rejected requests change nothing', async () => {
    const cells: Cell[] = credentials.flatMap((credential) =>
      relations.map((relation) => ({ operation, credential, relation })),
    );
    const sent: { cell: Cell; outcome: Outcome | number }[] = [];
    const refused = cells.filter((cell) => expected(cell) !== 'allowed');
    // One after the other: some dozens at once are too many for a busy machine.
    const prepared: { cell: Cell; request: Prepared }[] = [];
    for (const cell of refused) prepared.push({ cell, request: await prepare(cell, resources) });
    const before = await store.read();
    for (const { cell, request } of prepared)
      sent.push({ cell, outcome: outcomeOf(await sendPrepared(instance, request), operation.recipe) });
    expect(await store.read()).toEqual(before);
    for (const cell of cells.filter((each) => !refused.includes(each)))
      sent.push({
        cell,
        outcome: outcomeOf(await sendPrepared(instance, await prepare(cell, resources)), operation.recipe),
      });
    const table = (rows: { cell: Cell; outcome: unknown }[]) =>
      Object.fromEntries(
        rows.map(({ cell, outcome }) => [`${cell.credential.name}, ${cell.relation}`, outcome]),
      );
    expect(table(sent)).toEqual(table(cells.map((cell) => ({ cell, outcome: expected(cell) }))));
  }, 60_000);

  it.runIf(relations.includes('other'))('shows others’ things as if there were none', async () => {
    for (const credential of credentials) {
      const cells = (['other', 'none'] as const).map((relation) => ({ operation, credential, relation }));
      if (cells.some((cell) => expected(cell) === 'allowed')) continue;
      const [other, none] = (await Promise.all(cells.map((cell) => prepare(cell, resources)))) as [
        Prepared,
        Prepared,
      ];
      for (const changes of [{}, { headers: { Accept: 'text/html' } }, ...(withBody ? [malformed] : [])])
        expect(
          await describeRefusal(other, await sendPrepared(instance, other, changes)),
          `${credential.name}, ${JSON.stringify(changes)}`,
        ).toEqual(await describeRefusal(none, await sendPrepared(instance, none, changes)));
    }
  });

  it.runIf(operation.contract['x-roles']?.auditor === 'read')(
    'gives an auditor nothing with which to act as the person',
    async () => {
      const credential = credentials.find(({ roles }) => roles.includes('auditor')) as Credential;
      for (const relation of relations) {
        const prepared = await prepare({ operation, credential, relation }, resources);
        for (const Accept of ['*/*', 'text/html', 'application/jose', 'application/pdf', 'text/plain']) {
          const response = await sendPrepared(instance, prepared, { headers: { Accept } });
          const all = JSON.stringify([...response.headers]) + (await response.text());
          expect(tokensIn(all), `${relation}, ${Accept}`).toEqual([]);
        }
      }
    },
  );

  it.runIf(withBody)('looks at credentials and roles before it looks at what is sent', async () => {
    for (const credential of credentials) {
      const cell: Cell = { operation, credential, relation: 'own' };
      const wanted = expected(cell);
      // Whether a thing is one's own is seen when it is looked up, and by then the content has been read.
      const rolesAllow = credential.roles.some((role) => operation.contract['x-roles']?.[role]);
      if (wanted === 'allowed' || rolesAllow) continue;
      const request = await prepare(cell, resources);
      for (const changes of [malformed, ofNoType])
        expect((await sendPrepared(instance, request, changes)).status, credential.name).toBe(wanted);
    }
  });
});
