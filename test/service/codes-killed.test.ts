import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { expect, it, onTestFinished, vi } from 'vitest';
import { keepEvents, readStored } from '../chaos/check/stored.ts';
import { startKillableInstance } from '../support/instances/killable-instance.ts';
import { transactionIn } from '../support/instances/live-subject.ts';
import { createTransaction, submitForCode } from '../support/instances/live-transactions.ts';
import { startMailServer } from '../support/network/mail-server.ts';

/** Confirmations during which the process is killed; `CODES_KILLED=500` is a longer run. */
const confirmations = Number(process.env.CODES_KILLED ?? 60);

it('kill -9 during confirmations leaves each COMMITTED or awaiting its code, and every acknowledged confirmation COMMITTED', async () => {
  const { database, shop, kill, startAgain } = await startKillableInstance();
  await keepEvents(database);
  const prefix = `killed-${randomUUID()}`;
  const made: Awaited<ReturnType<typeof submitForCode>>[] = [];
  for (let group = 0; group < confirmations; group += 20)
    made.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(20, confirmations - group) }, (_, index) =>
          submitForCode(shop, { subject: `${prefix}-${group + index}` }),
        ),
      )),
    );
  const confirm = ({ id, code }: (typeof made)[number]) =>
    shop.send('POST', `/consents/${id}/confirm`, { code });

  const acknowledged = new Set<string>();
  const queue = [...made];
  let killed: Promise<unknown> | undefined;
  await Promise.all(
    Array.from({ length: 16 }, async () => {
      for (let next = queue.shift(); next && !killed; next = queue.shift()) {
        const reply = await confirm(next).catch(() => undefined);
        if (reply?.status === 200) acknowledged.add(next.id);
        if (acknowledged.size >= confirmations / 3) killed ??= kill();
      }
    }),
  );
  await killed;
  const stored = await readStored(database, prefix);
  for (const { id, state } of stored.transactions) {
    const isCommitted = state === 'COMMITTED';
    if (acknowledged.has(id)) expect(state).toBe('COMMITTED');
    else expect(['SUBMITTED', 'COMMITTED']).toContain(state);
    const records = stored.records.filter(({ transaction }) => transaction === id);
    expect(records).toHaveLength(3);
    expect(new Set(records.map((record) => record.state))).toEqual(
      new Set([isCommitted ? 'COMMITTED' : 'PENDING']),
    );
    expect(stored.receipts.filter(({ transaction }) => transaction === id)).toHaveLength(isCommitted ? 1 : 0);
  }
  expect(stored.transactions.filter(({ state }) => state === 'SUBMITTED')).not.toEqual([]);

  await startAgain();
  for (const one of made)
    expect(await transactionIn(await confirm(one))).toMatchObject({ state: 'COMMITTED' });
  const afterwards = await readStored(database, prefix);
  expect(afterwards.receipts).toHaveLength(confirmations);
  expect(afterwards.records).toHaveLength(3 * confirmations);
  const committed = afterwards.events.filter(({ type }) => type === 'io.accord.consent.committed.v1');
  expect(new Set(committed.map(({ transaction }) => transaction)).size).toBe(confirmations);
  expect(committed).toHaveLength(confirmations);
}, 240_000);

it('kill -9 between the reply of the mail server and the COMMIT sends a mail twice, with the same Message-ID', async () => {
  const server = await startMailServer();
  onTestFinished(() => server.close());
  const { database, shop, kill, startAgain } = await startKillableInstance({ MAIL_URL: server.url });
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  onTestFinished(() => client.end());

  const emailAddress = `${randomUUID()}@example.org`;
  let reply: () => void = () => {};
  server.behave(emailAddress, {
    after: new Promise((resolve) => {
      reply = resolve;
    }),
  });
  const { id } = await createTransaction(shop, { subjectInfos: { emailAddress }, sendInvitation: true });
  await server.waitFor(emailAddress);
  await client.query('BEGIN');
  await client.query('SELECT FROM transactions.messages WHERE transaction = $1 FOR UPDATE', [id]);
  reply();
  await vi.waitFor(
    async () => {
      // A transaction keeps what it has read of pg_stat_activity.
      await client.query('SELECT pg_stat_clear_snapshot()');
      const { rows } = await client.query(
        `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      expect(rows).not.toEqual([]);
    },
    { timeout: 20_000, interval: 20 },
  );
  await kill();
  await client.query('ROLLBACK');

  server.behave(emailAddress, {});
  await startAgain();
  await server.waitFor(emailAddress, 2);
  await vi.waitFor(
    async () => {
      const messages = await (await shop.get(`/consents/${id}/messages`)).json();
      expect(messages).toMatchObject([{ kind: 'invitation', state: 'SENT' }]);
    },
    { timeout: 20_000, interval: 20 },
  );
  const mails = server.to(emailAddress);
  expect(mails).toHaveLength(2);
  expect(new Set(mails.map(({ mail }) => mail.messageId)).size).toBe(1);
}, 120_000);
