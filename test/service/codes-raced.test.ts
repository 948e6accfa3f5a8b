import { describe, expect, it } from 'vitest';
import { type Caller, createKey, patient } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass, rowsOf } from '../support/instances/live-database.ts';
import { eventsOf, keepEvents } from '../support/instances/live-events.ts';
import { transactionIn } from '../support/instances/live-subject.ts';
import { type LiveTransaction, recordsOf, submitForCode } from '../support/instances/live-transactions.ts';

const instance = useInstance();
const shop: Caller = useSetup(async () => {
  await keepEvents(instance);
  return patient(await createKey(instance));
});

async function confirm({ id }: Pick<LiveTransaction, 'id'>, code: string): Promise<Response> {
  return shop.send('POST', `/consents/${id}/confirm`, { code });
}

/** A transaction that awaits a code, and the code. */
const submitted = () => submitForCode(shop, { cancellable: true });

const guesses = (code: string, count: number) =>
  Array.from({ length: count }, (_one, index) =>
    String((Number(code) + 1 + index) % 1_000_000).padStart(6, '0'),
  );

/** Transactions whose codes are guessed, 34 times a code; `CODES_GUESSED=100`: over 10,000 guesses. */
const guessed = Number(process.env.CODES_GUESSED ?? 5);

describe('guesses', () => {
  it('at once use no more than 5 attempts of each of 3 codes; the right code is refused after them', async () => {
    const made = await Promise.all(Array.from({ length: guessed }, submitted));
    const ids = made.map(({ id }) => id);
    for (const number of [1, 2, 3]) {
      const codes = await Promise.all(
        made.map(async (one) => {
          if (number > 1)
            expect((await shop.send('POST', `/consents/${one.id}/confirm/resend`)).status).toBe(202);
          return (await (await shop.get(`/consents/${one.id}/confirm`)).json()) as { code: string };
        }),
      );
      const refusals = new Set<number>();
      for (let group = 0; group < guessed; group += 10) {
        const sent = made
          .slice(group, group + 10)
          .flatMap((one, index) =>
            guesses(codes[group + index]?.code ?? '', 34).map((guess) => confirm(one, guess)),
          );
        for (const { status } of await Promise.all(sent)) refusals.add(status);
      }
      expect(refusals).toEqual(new Set(number < 3 ? [422] : [422, 409]));
      expect(await rowsOf(instance, attemptsOf, [ids])).toEqual(number < 3 ? [{ number, tries: 5 }] : []);
      for (const [index, one] of made.entries())
        expect((await confirm(one, codes[index]?.code ?? '')).status).toBe(number < 3 ? 422 : 409);
      await letTimePass(instance, `${31 * number} seconds`);
    }
    for (const one of made) {
      expect(await transactionIn(await shop.get(`/consents/${one.id}`))).toMatchObject({ state: 'ROLLBACK' });
      const records = (await recordsOf(shop, one.subject))['processing.001'] ?? [];
      expect(records.map((record) => record.state)).toEqual(['ROLLED_BACK']);
    }
    await letTimePass(instance, '0 seconds');
  }, 240_000);
});

const attemptsOf =
  'SELECT DISTINCT number, tries FROM transactions.codes WHERE transaction = ANY($1::text[])';

describe('a right code', () => {
  it('among wrong codes at the same time commits the answers once', async () => {
    const made = await Promise.all(Array.from({ length: 10 }, submitted));
    await Promise.all(
      made.flatMap((one) =>
        [...guesses(one.code, 3), one.code, one.code].sort().map((guess) => confirm(one, guess)),
      ),
    );
    for (const one of made) {
      expect(await transactionIn(await shop.get(`/consents/${one.id}`))).toMatchObject({
        state: 'COMMITTED',
      });
      expect((await recordsOf(shop, one.subject))['processing.001']).toHaveLength(1);
      const events = (await eventsOf(instance, one)).map(({ event }) => event.type);
      expect(events.filter((type) => type === 'io.accord.consent.committed.v1')).toHaveLength(1);
    }
  }, 60_000);

  it('and a cancellation at the same time leave a transaction that is wholly committed or wholly cancelled', async () => {
    const made = await Promise.all(Array.from({ length: 20 }, submitted));
    await Promise.all(
      made.flatMap((one) => [confirm(one, one.code), shop.send('POST', `/consents/${one.id}/cancel`)]),
    );
    for (const one of made) {
      const { state } = await transactionIn(await shop.get(`/consents/${one.id}`));
      const records = (await recordsOf(shop, one.subject))['processing.001'] ?? [];
      const receipt = (await shop.get(`/receipts/${one.id}`)).status;
      expect([state, records.map((record) => record.state), receipt]).toEqual(
        state === 'COMMITTED' ? [state, ['COMMITTED'], 200] : ['CANCELLED', ['ROLLED_BACK'], 404],
      );
    }
  }, 60_000);
});
