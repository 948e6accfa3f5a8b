import { describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { createTransaction, expire, recordAnswers } from '../support/instances/live-transactions.ts';

type Transaction = components['schemas']['Transaction'];
type Form = components['schemas']['Form'];

const instance = useInstance();
const shop = useSetup(() => createKey(instance));

/** Follows a link as it stands: no credential, nothing added to it. */
const follow = async <Body>(link = '', body?: object) => {
  const response = await instance.fetch(link, {
    ...(body && {
      method: 'POST',
      body: JSON.stringify(body),
      headers: { 'Content-Type': 'application/json' },
    }),
  });
  expect(response.ok, `${response.status} of ${link}`).toBe(true);
  return (await response.json()) as Body;
};
const namesOf = ({ links }: Transaction) => Object.keys(links).sort();
const create = async (context = {}) => (await createTransaction(shop, context)) as unknown as Transaction;
const answersOf = ({ elements }: Form) =>
  Object.fromEntries(elements.map(({ identifier, answers }) => [identifier, [answers?.[0] ?? '']]));

describe('the links of a transaction', () => {
  it('lead from the creation to the form, the receipt and the child without changes', async () => {
    const made = await create();
    expect(namesOf(made)).toEqual(['form', 'subject']);
    const form = await follow<Form>(made.links.form);
    const committed = await follow<Transaction>(made.links.form, answersOf(form));
    expect(committed.state).toBe('COMMITTED');
    expect(namesOf(committed)).toEqual(['child', 'receipt', 'subject']);
    expect(await follow(committed.links.receipt)).toMatchObject({ transaction: made.id });
    const child = await follow<Transaction>(committed.links.child, {});
    expect(child).toMatchObject({ parent: made.id, state: 'CREATED' });
    expect(await follow<Form>(child.links.form)).toHaveProperty('elements');
    expect(await follow(made.links.subject)).toMatchObject({ id: made.id, state: 'COMMITTED' });
  });

  it('are the same for every operation that answers with the transaction', async () => {
    const made = await create({ cancellable: true });
    const read = (await (await shop.get(`/consents/${made.id}`)).json()) as Transaction;
    expect(namesOf(read)).toEqual(namesOf(made));
    const cancelled = (await (await shop.send('POST', `/consents/${made.id}/cancel`)).json()) as Transaction;
    expect(namesOf(cancelled)).toEqual(['child', 'subject']);
    const single = (await recordAnswers(shop, 'links in one step', {
      'element/processing/processing.001/1.0': ['accepted'],
    })) as unknown as Transaction;
    expect(namesOf(single)).toEqual(['child', 'receipt', 'subject']);
    const user = await signIn(instance, 'user');
    const own = (await createTransaction(user, { subject: 'user' })) as unknown as Transaction;
    expect(await follow<Form>(own.links.form)).toHaveProperty('elements');
  });

  it('omit the child of a final transaction and the form after the deadline', async () => {
    const fixed = await create({ updatable: false });
    const committed = await follow<Transaction>(
      fixed.links.form,
      answersOf(await follow<Form>(fixed.links.form)),
    );
    expect(namesOf(committed)).toEqual(['receipt', 'subject']);
    const late = await create();
    await expire(instance, late);
    const read = await follow<Transaction>(late.links.subject);
    expect(read.state).toBe('TIMEOUT');
    expect(namesOf(read)).toEqual(['child', 'subject']);
  });

  it("contain a URL for the subject's browser", async () => {
    const { links } = await create();
    const page = await fetch(links.subject, { headers: { Accept: 'text/html' } });
    expect(page.status).toBe(200);
    expect(page.headers.get('content-type')).toMatch(/^text\/html/);
    expect(await page.text()).toContain('<form');
  });

  it('are absent from lists', async () => {
    const { subject } = await create();
    const { values } = (await (
      await shop.get(`/transactions?subject=${encodeURIComponent(subject)}`)
    ).json()) as { values: Transaction[] };
    expect(values).toHaveLength(1);
    expect(values[0]).not.toHaveProperty('links');
  });
});
