import { afterAll, describe, expect, it } from 'vitest';
import { type Caller, createKey, patient, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass, rowsOf } from '../support/instances/live-database.ts';
import { complete, problemOf, transactionIn } from '../support/instances/live-subject.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { startMailServer } from '../support/network/mail-server.ts';

const server = await startMailServer();
afterAll(() => server.close());

let made = 0;
/** A context of its own, for an address of its own. */
const contextOf = (more: object = {}) => {
  made += 1;
  const emailAddress = `person-${made}@example.org`;
  return { subject: `person ${made}`, layout: 'layout.001', subjectInfos: { emailAddress }, ...more };
};
const invite = (caller: Caller) =>
  caller.send('POST', '/consents', contextOf({ sendInvitation: true })).then((answer) => answer);
const statuses = (answers: Response[]) => answers.map(({ status }) => status).sort();
const times = <T>(count: number, work: () => Promise<T>) => Promise.all(Array.from({ length: count }, work));

/** Submits answers of a new transaction. */
async function submit(caller: Caller, more: object): Promise<{ id: string; status: number }> {
  const { subject, layout, ...context } = contextOf(more);
  const { id } = await createTransaction(caller, context);
  const { status } = await caller.send('POST', `/consents/${id}/submit`, complete);
  return { id, status };
}
const askForCode = (caller: Caller) => submit(caller, { confirmation: 'EMAIL_CODE' });
const commit = (caller: Caller) => submit(caller, { notification: 'email.001' });

/** The newest message of a transaction. */
async function messageOf(caller: Caller, { id }: { id: string }): Promise<{ error?: string }> {
  const [found = {}] = (await (await caller.get(`/consents/${id}/messages`)).json()) as object[];
  return found;
}
/** Waits until a limit lets a message be sent. How long its PDF takes then depends on the machine. */
const isLetGo = (caller: Caller, made: { id: string }) =>
  expect
    .poll(async () => (await messageOf(caller, made)).error, { timeout: 60_000 })
    .not.toBe('hourly-limit');

describe('CREATOR_HOURLY_LIMIT', () => {
  const instance = useInstance({
    MAIL_URL: server.url,
    CREATOR_HOURLY_LIMIT: '5',
    RATE_LIMITS: 'off',
  });
  const [shop, other, operator] = [
    useSetup(() => createKey(instance)),
    useSetup(() => createKey(instance)),
    useSetup(async () => patient(await signIn(instance, 'operator'))),
  ];

  it('limits the invitations of one key, also in parallel, and those of nobody else', async () => {
    const answers = await times(8, () => invite(shop));
    expect(statuses(answers)).toEqual([201, 201, 201, 201, 429, 429, 429, 429]);
    const refused = answers.find(({ status }) => status === 429) as Response;
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3_500);
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(3_600);
    expect(await problemOf(refused)).toMatchObject({
      said: '429 too-many-requests',
      detail: 'Too many messages were sent for this account or key. Try again later.',
      errors: [{ code: 'limit' }],
    });
    expect(statuses(await times(6, () => invite(operator)))).toEqual([201, 201, 201, 201, 429, 429]);
    expect((await invite(other)).status).toBe(201);
  });

  it('counts an invitation against whoever asks for it, not the creator of the transaction', async () => {
    const { subject, layout, ...context } = contextOf();
    const { id } = await createTransaction(other, context);
    expect((await shop.send('POST', `/consents/${id}/invitation`)).status).toBe(429);
    expect((await other.send('POST', `/consents/${id}/invitation`)).status).toBe(202);
  });

  it('leaves a fifth to the codes of the same creator', async () => {
    const asked = await times(3, () => askForCode(shop));
    expect(asked.map(({ status }) => status).sort()).toEqual([200, 429, 429]);
  });

  it('lets notifications wait until the hour has passed', async () => {
    const committed = await commit(shop);
    expect(committed.status).toBe(200);
    expect(await messageOf(shop, committed)).toMatchObject({
      kind: 'notification',
      state: 'PENDING',
      error: 'hourly-limit',
      attempts: 0,
    });
    // What waits is not overtaken by later messages of the same creator.
    expect((await invite(shop)).status).toBe(429);
    await letTimePass(instance, '61 minutes');
    await isLetGo(shop, committed);
    expect((await invite(shop)).status).toBe(201);
    await letTimePass(instance, '0 seconds');
  }, 120_000);

  it('is logged once for each creator, with its name, and counted', async () => {
    const lines = instance
      .logs()
      .split('\n')
      .filter((line) => line.includes('hourly limit of messages reached'))
      .map((line) => JSON.parse(line));
    expect(lines.map(({ level, code }) => [level, code])).toEqual([
      ['warn', 'creator'],
      ['warn', 'creator'],
    ]);
    expect(lines.map(({ id }) => id).sort()).toEqual([
      expect.stringMatching(/^key:/),
      expect.stringMatching(/^staff user:/),
    ]);
    expect(await instance.metrics()).toMatch(/^accord_messages_limited_total\{.*limit="creator".*\} \d\d?$/m);
  });
});

describe('MAIL_HOURLY_LIMIT', () => {
  const instance = useInstance({
    MAIL_URL: server.url,
    MAIL_HOURLY_LIMIT: '5',
    RATE_LIMITS: 'off',
  });
  const [first, second, third] = [
    useSetup(() => createKey(instance)),
    useSetup(() => createKey(instance)),
    useSetup(() => createKey(instance)),
  ];

  it('limits the mails of all creators together, and never more are sent in an hour', async () => {
    const answers = await Promise.all([first, second, third, first, second, third].map(invite));
    expect(statuses(answers)).toEqual([201, 201, 201, 201, 429, 429]);
    const waiting = await Promise.all(
      [first, first, first, second, second, third].map(async (caller) => {
        const committed = await commit(caller);
        return { ...committed, caller };
      }),
    );
    expect(waiting.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200]);
    for (const each of waiting)
      expect(await messageOf(each.caller, each)).toMatchObject({ state: 'PENDING', error: 'hourly-limit' });
    expect((await askForCode(third)).status).toBe(200);
    expect((await askForCode(third)).status).toBe(429);

    await letTimePass(instance, '61 minutes');
    const counted = () =>
      rowsOf<{ creator: string }>(
        instance,
        `SELECT m.created_by AS creator FROM transactions.messages AS m
          WHERE m.kind = 'notification' AND m.counted_at < 'infinity'`,
      );
    await expect.poll(async () => (await counted()).length, { timeout: 60_000 }).toBe(4);
    // Each creator in turn: one of the third, and not three of the first.
    expect(new Set((await counted()).map(({ creator }) => creator)).size).toBe(3);

    await letTimePass(instance, '122 minutes');
    for (const each of waiting) await isLetGo(each.caller, each);
    await letTimePass(instance, '0 seconds');
  }, 180_000);

  it('does not keep text messages and answers without mails', async () => {
    const { id } = await createTransaction(first, {});
    expect((await transactionIn(first.send('POST', `/consents/${id}/submit`, complete))).state).toBe(
      'COMMITTED',
    );
  });
});
