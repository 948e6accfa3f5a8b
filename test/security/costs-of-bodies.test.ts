import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signInToConsole } from '../support/console/console-person.ts';
import { signIn } from '../support/instances/callers.ts';
import { type Operation, operations, prepare } from './authorisation/cells.ts';
import { createResources } from './authorisation/resources.ts';
import { noteFigure } from './costs/figures.ts';
import { sendTo } from './costs/send.ts';
import { concretePath, targets } from './costs/targets.ts';
import { plainBodies, type WorstBody, worstBodies } from './costs/worst-bodies.ts';
import { type Spent, startWatchedProcess, type WatchedProcess } from './hostile-texts/process-under-test.ts';

let watched: WatchedProcess;
beforeAll(async () => {
  watched = await startWatchedProcess();
}, 120_000);
afterAll(() => watched?.stop());

const patienceMs = 10 * 60_000;
/**
 * CPU time of one turn; a megabyte of JSON with the most values takes 40 ms. Twice what a quiet machine may
 * take (100 ms), because a busy one needs up to twice the CPU time.
 */
const mostMs = 200;
/** Of a request that is twice as large, and what else the process does meanwhile. */
const [mostGrowth, otherMs] = [3, 60];
const mostTries = 4;

/** Of no particular operation; each target gets the first of them, and its share of the others. */
const [emptyFields, ...others] = plainBodies(1_000_000) as [WorstBody, ...WorstBody[]];
const sharing = 5;
const shareOf = (turn: number) => [
  emptyFields,
  ...others.filter((_, index) => process.env.HOSTILE_TEXTS === 'all' || index % sharing === turn % sharing),
];

/** The issuer reads 16 KiB of its pages' forms and 56 KiB of a token request; most operations take 64 KiB. */
const small = [15_000, 54_000].flatMap(plainBodies);
/** Their bodies are read before it is known who sends them. */
const isOpen = (path: string) => /^\/auth|\/(pairing|acknowledge)$/.test(path);

type Send = (body: Buffer, type: string) => Promise<number>;

interface Cost extends Spent {
  status: number;
}

async function costOf(send: () => Promise<number>): Promise<Cost> {
  await watched.spent();
  const status = await send();
  return { ...(await watched.spent()), status };
}

/** Garbage may be collected in any turn; what is wrong with a body happens every time. */
async function measure(who: string, request: string, { name, of, type }: WorstBody, send: Send) {
  let fault = '';
  let two: Cost = { longest: 0, total: 0, status: 0 };
  let least: Cost | undefined;
  const [half, whole] = [of(0.5), of(1)];
  for (let tries = 0; tries < mostTries && (tries === 0 || fault); tries += 1) {
    const one = await costOf(() => send(half, type));
    two = await costOf(() => send(whole, type));
    if (!least || two.longest < least.longest) least = two;
    const grows = two.total > one.total * mostGrowth + otherMs;
    fault =
      two.longest <= mostMs && !grows
        ? ''
        : `${who}, ${request}, ${name}: ${Math.round(two.longest)} ms in one turn; ${Math.round(one.total)} ms, and ${Math.round(two.total)} ms for twice as much (${two.status})`;
  }
  noteFigure({ request, input: `${name}, by ${who}`, ...(least as Cost) });
  return { faults: fault ? [fault] : [], status: two.status };
}

const to =
  (method: string, path: string, headers: Record<string, string>): Send =>
  (body, type) =>
    sendTo(watched.instance.url, { method, path, headers: { ...headers, 'Content-Type': type }, body });

it(
  'no body of a stranger keeps others waiting, whatever it is sent to',
  async () => {
    const found: string[] = [];
    for (const [turn, { method, path }] of targets.entries()) {
      if (method === 'GET' || method === 'DELETE' || found.length > 10) continue;
      const headers = { Accept: 'text/html', 'Sec-Fetch-Site': 'same-origin' };
      for (const body of [...shareOf(turn), ...(isOpen(path) ? small : [])])
        found.push(
          ...(await measure('a stranger', `${method} ${path}`, body, to(method, path, headers))).faults,
        );
    }
    expect(found).toEqual([]);
  },
  patienceMs,
);

const withBodies = operations
  .filter(({ contract }) => contract.requestBody)
  .map((operation) => ({ operation, operationId: operation.operationId }));

/** As targets.ts names it, so that all figures of an operation stand together. */
const nameOf = ({ method, path }: Operation) => `${method} ${concretePath(path)}`;

describe('no body keeps others waiting', () => {
  it.each(withBodies)(
    'of $operationId',
    async ({ operation }: { operation: Operation }) => {
      const { headers } = await signIn(watched.instance, 'admin');
      const credential = { name: 'an admin', roles: ['admin', 'operator', 'user'] as const, headers };
      const resources = await createResources(watched.instance, signIn);
      try {
        const renew = () =>
          prepare({ operation, credential: credential as never, relation: 'own' }, resources);
        let { address, init } = await renew();
        const example: unknown = typeof init.body === 'string' && init.body ? JSON.parse(init.body) : {};
        const found: string[] = [];
        for (const body of worstBodies(operation.contract, example)) {
          const send: Send = (bytes, type) => to(operation.method, address, headers)(bytes, type);
          const { faults, status } = await measure('an administrator', nameOf(operation), body, send);
          found.push(...faults);
          if (status < 300) ({ address, init } = await renew());
        }
        expect(found).toEqual([]);
      } finally {
        await resources.partner.close();
      }
    },
    patienceMs,
  );
});

it(
  'no form of the console keeps others waiting',
  async () => {
    const { browser } = await signInToConsole(watched.instance.url, 'admin');
    const Cookie = browser
      .cookies()
      .map((raw) => raw.split(';')[0])
      .join('; ');
    const headers = { Accept: 'text/html', 'Sec-Fetch-Site': 'same-origin', Cookie };
    const found: string[] = [];
    for (const [turn, { method, path }] of targets.entries()) {
      if (method !== 'POST' || !path.startsWith('/console') || path === '/console/sign-out') continue;
      const html = await (await browser.fetch(watched.instance.url + path)).text();
      const names = [
        ...new Set([...html.matchAll(/ name="([^"]+)"/g)].map(([, name]) => name as string)),
      ].slice(0, 20);
      const cycled: WorstBody = {
        name: `fields ${names.join(' ')}`,
        type: 'application/x-www-form-urlencoded',
        of: (share) =>
          Buffer.from(
            Array.from(
              { length: 9_900 * share },
              (_, index) => `${encodeURIComponent(names[index % names.length] ?? 'a')}=${index}`,
            ).join('&'),
          ),
      };
      const bodies = [cycled, ...shareOf(turn).filter(({ type }) => type !== 'application/json')];
      for (const body of bodies)
        found.push(
          ...(await measure('an administrator', `${method} ${path}`, body, to(method, path, headers))).faults,
        );
    }
    expect(found).toEqual([]);
  },
  patienceMs,
);
