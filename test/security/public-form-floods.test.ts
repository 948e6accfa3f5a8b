import { Agent, request } from 'node:http';
import { expect, it, vi } from 'vitest';
import { signIn } from '../support/instances/callers.ts';
import { startKillableInstance } from '../support/instances/killable-instance.ts';
import { letTimePass, rowsOf } from '../support/instances/live-database.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { complete } from '../support/instances/live-subject.ts';
import { startMailServer } from '../support/network/mail-server.ts';
import { patience } from '../support/run/patience.ts';
import { until } from '../support/run/until.ts';

/** Requests of each flood; `FLOOD=10000 npx vitest run …` sends as many as somebody might. */
const requests = Number(process.env.FLOOD ?? 600);
const atATime = 32;
const networks = 1_000;
/** Default of RATE_LIMITS, `public`. */
const perMinute = 60;

interface Reply {
  status: number;
  location: string;
}

const agent = new Agent({ keepAlive: true, maxSockets: atATime });

/** A form post of a program behind a proxy that names its address. */
function post(url: string, { from, body = '' }: { from: string; body?: string }): Promise<Reply> {
  const headers = {
    'Content-Type': 'application/x-www-form-urlencoded',
    'Content-Length': Buffer.byteLength(body),
    'X-Forwarded-For': from,
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume();
      response.once('end', () =>
        resolve({ status: response.statusCode ?? 0, location: response.headers.location ?? '' }),
      );
      response.once('error', reject);
    });
    sent.once('error', reject);
    sent.end(body);
  });
}

/** Sends requests, so many at a time. */
async function flood(send: (index: number) => Promise<Reply>): Promise<Reply[]> {
  const replies: Reply[] = [];
  let next = 0;
  const client = async () => {
    while (next < requests) replies.push(await send(next++));
  };
  await Promise.all(Array.from({ length: atATime }, client));
  return replies;
}

/** Waits for what is swept batch by batch: the longer the more there is of it. */
const untilSwept = (check: () => Promise<void>) =>
  vi.waitFor(check, { ...patience, timeout: patience.timeout + requests * 20 });

const networkOf = (index: number) => `203.${(index % networks) >> 8}.${(index % networks) & 255}.7`;
const countOf = (replies: Reply[], status: number) => replies.filter((each) => each.status === status).length;

it('floods of a public form keep within its limits, harm nobody else, and leave nothing after an hour', {
  timeout: 600_000,
}, async () => {
  const server = await startMailServer();
  const { instance, database } = await startKillableInstance({
    RATE_LIMITS: 'transaction=60',
    TRUSTED_PROXIES: '127.0.0.1/32,::1/128',
    MAIL_URL: server.url,
    MAIL_FROM: 'consent@riverside.example',
  });
  const rows = <Row extends object>(text: string) => rowsOf<Row>({ databaseUrl: database }, text);
  const count = async (of: string) =>
    (await rows<{ n: number }>(`SELECT count(*)::int AS n FROM transactions.${of}`))[0]?.n ?? 0;
  const admin = await signIn(instance, 'admin');
  const publish = async (identify: string) => {
    const content = { type: 'layout', elements: Object.keys(complete).map(keyOf), public: { identify } };
    return `${instance.url}/f/${(await makeLiveModel(admin, 'layout', { en: content })).key}`;
  };
  const [nameless, byEmail] = [await publish('ANONYMOUS'), await publish('EMAIL')];
  const before = { transactions: await count('transactions'), subjects: await count('subjects') };

  // Somebody else asks whether the process lives, again and again.
  let isOver = false;
  const pulse = { times: [] as number[], failed: 0 };
  const asking = (async () => {
    while (!isOver) {
      const began = performance.now();
      const { status } = await instance.fetch('/livez');
      pulse.times.push(performance.now() - began);
      if (status !== 200) pulse.failed += 1;
    }
  })();

  const began = Date.now();
  const ofOne = await flood(() => post(nameless, { from: '198.51.100.7' }));
  const minutes = Math.floor((Date.now() - began) / 60_000) + 1;
  expect(countOf(ofOne, 303)).toBeLessThanOrEqual(perMinute * minutes);
  expect(countOf(ofOne, 303) + countOf(ofOne, 429) + countOf(ofOne, 503)).toBe(requests);
  expect(await count('transactions')).toBe(before.transactions + countOf(ofOne, 303));

  // Many networks begin in the name of one person.
  const victim = 'emailAddress=vic%40example.org';
  const ofMany = await flood((index) => post(byEmail, { from: networkOf(index), body: victim }));
  expect(countOf(ofMany, 303) + countOf(ofMany, 429) + countOf(ofMany, 503)).toBe(requests);
  expect(countOf(ofMany, 303)).toBeGreaterThan(requests / 2);
  const begun = ofMany.filter(({ status }) => status === 303).slice(0, 40);
  const answers = new URLSearchParams(
    Object.entries({ info: ['element/information/information.001/1.0'], ...complete }).flatMap(
      ([name, values]) => values.map((value): [string, string] => [name, value]),
    ),
  ).toString();
  const sent = [];
  for (const [index, { location }] of begun.entries())
    sent.push((await post(location, { from: networkOf(index), body: answers })).status);
  expect(sent.filter((status) => status === 303)).toHaveLength(5);
  await until(async () => expect(server.to('vic@example.org')).toHaveLength(5));
  isOver = true;
  await asking;
  expect(pulse.failed).toBe(0);
  expect(pulse.times.length).toBeGreaterThan(5);
  if (process.env.FLOOD) {
    const times = pulse.times.toSorted((one, other) => one - other);
    const [median, p95, p99] = [0.5, 0.95, 0.99].map((part) => times[Math.floor(part * times.length)]);
    const longest = times.at(-1);
    console.info({
      requests,
      ofOne: countOf(ofOne, 303),
      ofMany: countOf(ofMany, 303),
      median,
      p95,
      p99,
      longest,
    });
  }

  await letTimePass({ databaseUrl: database }, '61 minutes');
  // What has sent a code stays for a day, so that its address gets no further ones.
  await untilSwept(async () => expect(await count('transactions')).toBe(before.transactions + 5));
  await letTimePass({ databaseUrl: database }, '26 hours');
  await untilSwept(async () => {
    expect(await count('transactions')).toBe(before.transactions);
    expect(await count('subjects')).toBe(before.subjects);
  });
  for (const table of ['messages', 'codes', 'receipt_drafts', 'records', 'context_claims'])
    expect(await count(table), table).toBe(0);
  expect(server.to('vic@example.org')).toHaveLength(5);
  agent.destroy();
  await server.close();
});

/** The key in `element/<type>/<key>/<serial>`. */
function keyOf(identifier: string): string {
  return identifier.split('/')[2] ?? '';
}
