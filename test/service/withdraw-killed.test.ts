import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { keepEvents, readStored } from '../chaos/check/stored.ts';
import { startKillableInstance } from '../support/instances/killable-instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { letter, transactionIn } from '../support/instances/live-subject.ts';
import { recordAnswers, submitForCode } from '../support/instances/live-transactions.ts';

/**
 * People whose withdrawals and confirmations race while the process is killed; `WITHDRAWALS_KILLED=1000` is a
 * longer run.
 */
const people = Number(process.env.WITHDRAWALS_KILLED ?? 40);
const atOnce = 20;

interface Person {
  subject: string;
  /** The transaction of a consent in force. */
  given: string;
  /** A transaction whose answers, given before the withdrawal, await this code. */
  pending: string;
  code: string;
}

it('kill -9 while withdrawals race with confirmations leaves no earlier answer in force, loses none and stores none twice', async () => {
  const { database, shop, kill, startAgain } = await startKillableInstance();
  await keepEvents(database);
  const prefix = `withdrawn-${randomUUID()}`;

  const prepare = async (number: number): Promise<Person> => {
    const subject = `${prefix}-${number}`;
    const given = await recordAnswers(shop, subject, { [letter]: ['accepted'] });
    const layoutData = { elements: ['processing.001'] };
    const pending = await submitForCode(shop, { subject, layoutData }, { [letter]: ['accepted'] });
    return { subject, given: given.id, pending: pending.id, code: pending.code };
  };
  const everybody: Person[] = [];
  for (let first = 0; first < people; first += atOnce)
    everybody.push(
      ...(await Promise.all(
        Array.from({ length: Math.min(atOnce, people - first) }, (_, index) => prepare(first + index)),
      )),
    );

  const withdraw = ({ given }: Person) => shop.send('POST', `/consents/${given}/withdraw`);
  const confirm = ({ pending, code }: Person) => shop.send('POST', `/consents/${pending}/confirm`, { code });

  const acknowledged = new Set<string>();
  let killed: Promise<unknown> | undefined;
  const race = async (person: Person) => {
    const answers = [withdraw(person), confirm(person)].map((answer) => answer.catch(() => undefined));
    const [withdrawn, confirmed] = await Promise.all(answers);
    if (withdrawn?.ok) acknowledged.add((await transactionIn(withdrawn)).id);
    if (confirmed?.ok) acknowledged.add(person.pending);
    if (acknowledged.size >= people / 2) killed ??= kill();
  };
  const queue = [...everybody];
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let next = queue.shift(); next && !killed; next = queue.shift()) await race(next);
    }),
  );
  await killed;
  const committed = new Set(
    (await readStored(database, prefix)).transactions.flatMap(({ id, state }) =>
      state === 'COMMITTED' ? id : [],
    ),
  );
  for (const id of acknowledged) expect(committed, 'an acknowledged request was lost').toContain(id);

  await startAgain();
  for (const person of everybody) {
    expect([200, 201]).toContain((await withdraw(person)).status);
    expect((await confirm(person)).status).toBe(200);
  }
  const stored = await readStored(database, prefix);
  // For each person: the consent, its withdrawal, and the answers that awaited their code.
  expect(stored.transactions).toHaveLength(3 * people);
  expect(stored.receipts).toHaveLength(3 * people);
  expect(stored.records).toHaveLength(3 * people);
  const told = stored.events.filter(({ type }) => type === 'io.accord.consent.withdrawn.v1');
  expect(told).toHaveLength(people);
  const inForce = await rowsOf<{ value: string[] }>(
    { databaseUrl: database },
    `SELECT DISTINCT ON (subject) value FROM transactions.records
      WHERE state = 'COMMITTED' AND starts_with(subject, $1) ORDER BY subject, committed_at DESC, id DESC`,
    [prefix],
  );
  expect(inForce).toHaveLength(people);
  expect(inForce.filter(({ value }) => value[0] !== 'refused')).toEqual([]);
}, 240_000);
