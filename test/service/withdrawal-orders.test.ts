import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { createKey } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letter } from '../support/instances/live-subject.ts';
import { recordAnswers, submitForCode } from '../support/instances/live-transactions.ts';

/** Random orders of what a person does; `ORDERS=300` is a longer run. */
const numRuns = Number(process.env.ORDERS ?? 8);

const steps = [
  'accept',
  'accept by code',
  'enter first',
  'enter last',
  'withdraw it',
  'withdraw all',
] as const;
type Step = (typeof steps)[number];

const instance = useInstance();
const shop = useSetup(() => createKey(instance));

/** A consent: the step at which it was given, and the code that it awaits. */
interface Consent {
  id: string;
  given: number;
  code?: string;
}

/** A person who does one step after the other, and what must then be true. */
function person() {
  const subject = `in any order ${randomUUID()}`;
  const consents: Consent[] = [];
  let withdrawn = -1;
  const waiting = () => consents.filter(({ code }) => code !== undefined);
  const enter = async (consent: Consent | undefined) => {
    if (!consent?.code) return;
    const { id, code } = consent;
    expect((await shop.send('POST', `/consents/${id}/confirm`, { code })).status).toBe(200);
    delete consent.code;
  };
  const withdraw = async (given: number, path: string, body: object) => {
    const isAny = consents.some((consent) => consent.given > withdrawn);
    const expected = isAny ? 201 : withdrawn >= 0 ? 200 : 409;
    expect((await shop.send('POST', path, body)).status).toBe(expected);
    if (isAny) withdrawn = given;
  };
  const does: Record<Step, (given: number) => Promise<unknown>> = {
    accept: async (given) => {
      const attributes = { step: String(given) };
      const { id } = await recordAnswers(shop, subject, { [letter]: ['accepted'] }, { attributes });
      consents.push({ id, given });
    },
    'accept by code': async (given) => {
      const layoutData = { elements: ['processing.001'] };
      const context = { subject, layoutData, attributes: { step: String(given) } };
      const { id, code } = await submitForCode(shop, context, { [letter]: ['accepted'] });
      consents.push({ id, given, code });
    },
    'enter first': () => enter(waiting()[0]),
    'enter last': () => enter(waiting().at(-1)),
    'withdraw it': async (given) => {
      const committed = consents.find(({ code }) => code === undefined);
      if (committed) await withdraw(given, `/consents/${committed.id}/withdraw`, { elements: [letter] });
    },
    'withdraw all': (given) => withdraw(given, '/choices/withdraw', { subject }),
  };
  return {
    does: (step: Step, given: number) => does[step](given),
    isInForce: () => consents.some(({ given, code }) => given > withdrawn && code === undefined),
    async isAllowed() {
      const asked = { subject, questions: [{ element: 'processing.001' }] };
      const answer = await shop.send('POST', '/decisions', asked);
      return ((await answer.json()) as { decisions: { allowed: boolean }[] }).decisions[0]?.allowed;
    },
  };
}

it('no consent given before a withdrawal is in force after it, in whatever order answers, codes and withdrawals arrive', {
  timeout: 20_000 + numRuns * 2_000,
}, async () => {
  const property = fc.asyncProperty(
    fc.array(fc.constantFrom(...steps), { minLength: 3, maxLength: 9 }),
    async (order) => {
      const { does, isInForce, isAllowed } = person();
      for (const [given, step] of order.entries()) {
        await does(step, given);
        expect([order, given, await isAllowed()]).toEqual([order, given, isInForce()]);
      }
    },
  );
  const examples: [Step[]][] = [
    [['accept', 'withdraw all', 'accept by code', 'withdraw all', 'enter first']],
    [['accept', 'withdraw it', 'accept by code', 'withdraw it', 'enter first']],
    [['accept by code', 'withdraw all', 'enter first', 'withdraw all']],
    [['accept by code', 'withdraw all', 'accept by code', 'enter first', 'enter last']],
  ];
  await fc.assert(property, { numRuns: numRuns + examples.length, examples });
});
