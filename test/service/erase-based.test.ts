import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { createKey, patient, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { complete, letter, study, subjectOf, transactionIn } from '../support/instances/live-subject.ts';
import { createTransaction, recordAnswers } from '../support/instances/live-transactions.ts';
import { tablesWith } from '../support/instances/tables-with.ts';

type Decision = components['schemas']['ElementDecision'];

const instance = useInstance();
const shop = useSetup(async () => patient(await createKey(instance)));
const operator = useSetup(async () => patient(await signIn(instance, 'operator')));
const admin = useSetup(async () => patient(await signIn(instance, 'admin')));

const both = { ...complete, [letter]: ['accepted'], [study]: ['accepted'] };
const json = async <T>(answer: Promise<Response>) => (await (await answer).json()) as T;
const path = (subject: string, rest: string) => `/subjects/${encodeURIComponent(subject)}/${rest}`;
const isDone = (id: string) =>
  vi.waitFor(async () => expect(await json(admin.get(`/erasures/${id}`))).toMatchObject({ state: 'DONE' }), {
    timeout: 60_000,
    interval: 100,
  });

let last = 0;
/** A person whose name, address, author and texts contain one word that nothing else contains. */
async function appear() {
  last += 1;
  const word = `quince${last}x`;
  const subject = `${word} of the theatre`;
  const subjectInfos = { emailAddress: `${word}@example.org`, firstName: word };
  const context = { subject, subjectInfos, author: `${word} typist`, attributes: { note: word } };
  const { id } = await recordAnswers(shop, subject, both, { ...context, object: 'given' });
  const open = await createTransaction(shop, { ...context, object: 'open' });
  const coded = await createTransaction(shop, { ...context, object: 'coded', confirmation: 'FORM_CODE' });
  await shop.send('POST', `/consents/${coded.id}/submit`, both);
  return { word, subject, given: id, open, coded, context };
}
type Person = Awaited<ReturnType<typeof appear>>;

/** What can meet an erasure, each by those who may do it. Whether it succeeds does not matter. */
const acts: Record<string, (person: Person) => Promise<unknown>> = {
  'a withdrawal at the transaction': ({ given, word }) =>
    shop.send('POST', `/consents/${given}/withdraw`, { elements: ['processing.001'], comment: word }),
  'a withdrawal by an employee': ({ given }) => operator.send('POST', `/consents/${given}/withdraw`),
  'a withdrawal of everything': ({ subject, word }) =>
    shop.send('POST', '/choices/withdraw', { subject, comment: word }),
  'a child': ({ given }) => shop.send('POST', `/consents/${given}/child`),
  'a child that is answered': async ({ given }) => {
    const child = await transactionIn(shop.send('POST', `/consents/${given}/child`));
    await shop.send('POST', `/consents/${child.id}/submit`, complete);
    await shop.send('POST', `/consents/${child.id}/child`);
  },
  'an answer': ({ open }) => subjectOf(instance, open).submit(both),
  'another code': ({ coded }) => shop.send('POST', `/consents/${coded.id}/confirm/resend`),
  'a cancellation': ({ open }) => shop.send('POST', `/consents/${open.id}/cancel`),
  'an invitation': ({ open }) => shop.send('POST', `/consents/${open.id}/invitation`),
  'a change of the address': ({ subject, word }) =>
    shop.send('PUT', `/subjects/${encodeURIComponent(subject)}`, { emailAddress: `${word}@example.com` }),
  'an export': ({ subject }) => shop.get(path(subject, 'export')),
  'a decision': ({ subject }) =>
    shop.send('POST', '/decisions', { subject, questions: [{ element: 'processing.001' }] }),
};

/** The tables of all services that still contain the word. */
const leftOf = ({ word }: Person) => tablesWith(instance, word);

describe('what is based on what an erasure covers', () => {
  it('names nobody once the erasure is DONE, whatever ran at the same moment', {
    timeout: 280_000,
  }, async () => {
    const moments = fc.array(
      fc.record({ act: fc.constantFrom(...Object.keys(acts)), turns: fc.nat({ max: 30 }) }),
      { minLength: 2, maxLength: 8 },
    );
    await fc.assert(
      fc.asyncProperty(moments, async (given) => {
        const person = await appear();
        const asked = admin.send('POST', path(person.subject, 'erasure'), { reason: person.word });
        const done = given.map(async ({ act, turns }) => {
          for (let turn = 0; turn < turns; turn += 1) await new Promise(setImmediate);
          await acts[act]?.(person);
        });
        const { id } = await json<{ id: string }>(asked);
        await Promise.allSettled(done);
        await isDone(id);
        expect([given, await leftOf(person)]).toEqual([given, []]);
      }),
      { numRuns: 12, endOnFailure: true },
    );
  });

  it('is erased with it, although it was made while a hold kept the erasure waiting', {
    timeout: 90_000,
  }, async () => {
    const person = await appear();
    await admin.send('PUT', path(person.subject, 'hold'), { reason: 'a claim' });
    const { id } = await json<{ id: string }>(admin.send('POST', path(person.subject, 'erasure')));
    for (const act of Object.values(acts)) await act(person);
    const rows = () =>
      rowsOf<{ kind: string | null }>(
        instance,
        `SELECT t.kind FROM transactions.transactions AS t
          WHERE t.subject = $1 AND t.created_at > (SELECT e.started_at FROM transactions.erasures AS e WHERE e.id = $2)`,
        [person.subject, id],
      );
    expect((await rows()).length).toBeGreaterThan(2);
    await admin.send('DELETE', path(person.subject, 'hold'));
    await isDone(id);
    expect(await leftOf(person)).toEqual([]);
  });

  it('does not take along what the person has started since', { timeout: 60_000 }, async () => {
    const person = await appear();
    await admin.send('PUT', path(person.subject, 'hold'), { reason: 'a claim' });
    const { id } = await json<{ id: string }>(admin.send('POST', path(person.subject, 'erasure')));
    const { subject } = person;
    const later = await recordAnswers(
      shop,
      subject,
      { ...complete, [letter]: ['refused'] },
      { object: 'given' },
    );
    const child = await transactionIn(shop.send('POST', `/consents/${later.id}/child`));
    await shop.send('POST', `/consents/${person.given}/withdraw`);
    await admin.send('DELETE', path(subject, 'hold'));
    await isDone(id);
    const left = await rowsOf<{ id: string }>(
      instance,
      'SELECT t.id FROM transactions.transactions AS t WHERE t.subject = $1 ORDER BY t.created_at',
      [subject],
    );
    expect(left).toEqual([{ id: later.id }, { id: child.id }]);
  });

  it('leaves the decisions about later answers as they are repeated', { timeout: 60_000 }, async () => {
    const { subject } = await appear();
    await admin.send('PUT', path(subject, 'hold'), { reason: 'a claim' });
    const { id } = await json<{ id: string }>(admin.send('POST', path(subject, 'erasure')));
    await recordAnswers(shop, subject, both, { object: 'later' });
    await admin.send('DELETE', path(subject, 'hold'));
    await isDone(id);
    const decide = async (more: object = {}) => {
      const questions = [{ element: 'processing.001', object: 'later', ...more }];
      const asked = shop.send('POST', '/decisions', { subject, questions });
      return (await json<{ decisions: Decision[] }>(asked)).decisions[0] as Decision;
    };
    const decision = await decide();
    expect(decision).toMatchObject({ reason: 'GIVEN' });
    const { asOf, position } = decision;
    expect(await decide({ asOf, position })).toEqual(decision);
  });
});

describe('a message that an erasure meets', () => {
  it('is not stored after its transaction was erased', { timeout: 60_000 }, async () => {
    const person = await appear();
    const { id } = await json<{ id: string }>(admin.send('POST', path(person.subject, 'erasure')));
    const invited = await Promise.all(
      Array.from({ length: 8 }, () => shop.send('POST', `/consents/${person.open.id}/invitation`)),
    );
    expect(invited.every(({ status }) => [202, 404, 409, 422, 429].includes(status))).toBe(true);
    await isDone(id);
    expect(await leftOf(person)).toEqual([]);
    const messages = await rowsOf(
      instance,
      `SELECT FROM transactions.messages AS m JOIN transactions.transactions AS t ON t.id = m.transaction
        WHERE t.erased_at IS NOT NULL`,
    );
    expect(messages).toEqual([]);
  });
});
