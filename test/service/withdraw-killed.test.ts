import { randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { keepEvents, readStored } from '../chaos/check/stored.ts';
import { callerWith, patient } from '../support/instances/callers.ts';
import { startKillableInstance } from '../support/instances/killable-instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { letter, transactionIn } from '../support/instances/live-subject.ts';
import { createTransaction, recordAnswers, submitForCode } from '../support/instances/live-transactions.ts';

/**
 * People whose withdrawals race with confirmations, and as many whose withdrawals race with submissions,
 * while the process is killed; `WITHDRAWALS_KILLED=1000` is a longer run.
 */
const people = Number(process.env.WITHDRAWALS_KILLED ?? 20);
const atOnce = 20;

type Instance = Awaited<ReturnType<typeof startKillableInstance>>;

/** A request, from when it is sent first until it is answered with success. */
interface Act {
  send(): Promise<Response>;
  sent?: number;
  answered?: number;
}

interface Person {
  subject: string;
  /** Of a consent in force. */
  withdrawal: Act;
  /** Of answers of another transaction. */
  answer: Act;
  /** The answers await a code: they were given before the withdrawal. */
  byCode: boolean;
  /** Which is sent first; the other waits for its response. */
  first: 'withdrawal' | 'answer' | undefined;
}

/** A record with the record that it withdraws. */
interface StoredRecord {
  id: string;
  subject: string;
  value: string[];
  withdraws: string | null;
}

/** All committed records of each person: the one in force last. */
async function historiesOf(database: string, prefix: string): Promise<Map<string, StoredRecord[]>> {
  const rows = await rowsOf<StoredRecord>(
    { databaseUrl: database },
    `SELECT id, subject, value, withdraws FROM transactions.records
      WHERE state = 'COMMITTED' AND starts_with(subject, $1) ORDER BY from_position NULLS FIRST, id`,
    [prefix],
  );
  return Map.groupBy(rows, ({ subject }) => subject);
}

/** Works for several people at a time. @param isOver ends the work early. */
async function forEach(
  those: readonly Person[],
  work: (person: Person) => Promise<void>,
  isOver = () => false,
) {
  const queue = [...those];
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (let next = queue.shift(); next && !isOver(); next = queue.shift()) await work(next);
    }),
  );
}

/** People with a consent in force, and other answers on their way: those of every other one await a code. */
async function preparePeople({ shop, instance }: Instance, prefix: string): Promise<Person[]> {
  const bearer = patient(callerWith(instance, {}));
  const prepare = async (number: number): Promise<Person> => {
    const subject = `${prefix}-${number}`;
    const accepted = { [letter]: ['accepted'] };
    const given = await recordAnswers(shop, subject, accepted);
    const byCode = number % 2 === 0;
    // Another validity makes another context than that of the consent in force.
    const context = { subject, layoutData: { elements: ['processing.001'] }, validity: 'P1Y' };
    const made = byCode
      ? await submitForCode(shop, context, accepted)
      : { ...(await createTransaction(shop, context)), code: '' };
    const answers = byCode ? { code: made.code } : accepted;
    const path = `/consents/${made.id}/${byCode ? 'confirm' : 'submit'}?t=${made.token}`;
    return {
      subject,
      byCode,
      first: ([undefined, 'withdrawal', 'answer'] as const)[number % 3],
      withdrawal: { send: () => shop.send('POST', `/consents/${given.id}/withdraw`) },
      answer: { send: () => bearer.send('POST', path, answers, { Accept: 'application/json' }) },
    };
  };
  const everybody: Person[] = [];
  for (let first = 0; first < 2 * people; first += atOnce) {
    const numbers = Array.from({ length: Math.min(atOnce, 2 * people - first) }, (_, index) => first + index);
    everybody.push(...(await Promise.all(numbers.map(prepare))));
  }
  return everybody;
}

/** @returns the id of the transaction; undefined if the process was killed meanwhile. */
async function attempt(act: Act): Promise<string | undefined> {
  act.sent ??= performance.now();
  const response = await act.send().catch(() => undefined);
  const made = response?.ok ? await transactionIn(response).catch(() => undefined) : undefined;
  if (made) act.answered = performance.now();
  return made?.id;
}

/** What is in force in the end; undefined if the two were on their way at the same time. */
function expectedOf({ withdrawal, answer, byCode }: Person): string | undefined {
  const { sent = 0, answered = 0 } = answer;
  if (byCode || answered <= (withdrawal.sent ?? 0)) return 'refused';
  return (withdrawal.answered ?? 0) <= sent ? 'accepted' : undefined;
}

it('kill -9 while withdrawals race with confirmations and submissions leaves no earlier answer in force, loses none and stores none twice', async () => {
  const accord = await startKillableInstance();
  const { database, kill, startAgain } = accord;
  await keepEvents(database);
  const prefix = `withdrawn-${randomUUID()}`;
  const everybody = await preparePeople(accord, prefix);
  const acknowledged: string[] = [];
  let killed: Promise<unknown> | undefined;
  const act = async (one: Act) => {
    const id = await attempt(one);
    if (id) acknowledged.push(id);
    if (acknowledged.length >= 2 * people) killed ??= kill();
  };
  const race = async ({ first, withdrawal, answer }: Person) => {
    const [one, other] = first === 'answer' ? [answer, withdrawal] : [withdrawal, answer];
    if (first) await act(one);
    await Promise.all(first ? [act(other)] : [act(one), act(other)]);
  };
  await forEach(everybody, race, () => killed !== undefined);
  await killed;
  const { transactions } = await readStored(database, prefix);
  const committed = transactions.flatMap(({ id, state }) => (state === 'COMMITTED' ? id : []));
  expect(committed, 'an acknowledged request was lost').toEqual(expect.arrayContaining(acknowledged));

  await startAgain();
  const complete = async (one: Act) => {
    if (one.answered === undefined) expect(await attempt(one)).toBeDefined();
  };
  await forEach(everybody, async ({ withdrawal, answer }) => {
    await Promise.all([complete(withdrawal), complete(answer)]);
  });
  const raced = await historiesOf(database, prefix);
  const inForce = (subject: string) => raced.get(subject)?.at(-1)?.value[0];
  for (const person of everybody)
    expect(inForce(person.subject), JSON.stringify(person)).toBe(
      expectedOf(person) ?? inForce(person.subject),
    );
  expect(new Set(everybody.map(({ subject }) => inForce(subject)))).toEqual(new Set(['accepted', 'refused']));

  // Who withdraws once more ends the answers that came after the first withdrawal.
  await forEach(everybody, async ({ withdrawal }) => expect(await attempt(withdrawal)).toBeDefined());
  const histories = [...(await historiesOf(database, prefix)).values()];
  expect(histories.filter((history) => history.at(-1)?.value[0] !== 'refused')).toEqual([]);
  const withdrawn = histories.flatMap((history) =>
    history.flatMap(({ withdraws }, index) => {
      if (withdraws === null) return [];
      expect(history.slice(0, index).find(({ id }) => id === withdraws)?.value).toEqual(['accepted']);
      return withdraws;
    }),
  );
  expect(new Set(withdrawn).size, 'a consent was withdrawn twice').toBe(withdrawn.length);
  // For each person: the consent, the other answers, and a withdrawal or two.
  const total = 4 * people + withdrawn.length;
  const stored = await readStored(database, prefix);
  expect(stored.transactions).toHaveLength(total);
  expect(stored.receipts).toHaveLength(total);
  expect(stored.records).toHaveLength(total);
  const told = stored.events.filter(({ type }) => type === 'io.accord.consent.withdrawn.v1');
  expect(told).toHaveLength(withdrawn.length);
}, 480_000);
