import { describe, expect, it } from 'vitest';
import { createKey } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { createTransaction, recordsOf } from '../support/instances/live-transactions.ts';

const instance = useInstance();
const shop = useSetup(() => createKey(instance));

const letter = 'element/processing/processing.001/1.0';
const interests = 'element/preference/preference.002/1.0';
const wishes = 'element/preference/preference.003/1.0';
const layoutData = { elements: ['processing.001', 'preference.002', 'preference.003'] };
const plain = {
  info: 'element/information/information.001/1.0',
  [letter]: 'refused',
  [interests]: 'Dance',
  [wishes]: 'An aisle seat',
  comment: 'By telephone',
};
const listed = Object.fromEntries(Object.entries(plain).map(([name, text]) => [name, [text]]));

describe('answers as single texts', () => {
  it('are recorded as lists of one, and are equal to such lists', async () => {
    const { id, subject, task, token } = await createTransaction(shop, { layoutData });
    const submit = (body: object) => shop.send('POST', `${task}?t=${token}`, body);
    expect((await submit(plain)).status).toBe(200);
    expect((await submit(listed)).status).toBe(200);
    const records = await recordsOf(shop, subject);
    expect(records['processing.001']).toMatchObject([
      { values: ['refused'], comment: 'By telephone', transaction: id },
    ]);
    expect(records['preference.002']).toMatchObject([{ values: ['Dance'] }]);
    expect(records['preference.003']).toMatchObject([{ values: ['An aisle seat'] }]);
  });

  it('are checked like lists, with a pointer to the answer', async () => {
    const { task, token } = await createTransaction(shop, { layoutData });
    const answer = await shop.send('POST', `${task}?t=${token}`, { ...plain, [letter]: 'perhaps' });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({
      errors: [{ pointer: `/${letter.replaceAll('/', '~1')}`, code: 'not-an-option' }],
    });
  });

  it.each([[1], [true], [{ answer: 'accepted' }], [[1]], [null]])(
    'are texts: %j is refused',
    async (answer) => {
      const { task, token } = await createTransaction(shop, { layoutData });
      const refused = await shop.send('POST', `${task}?t=${token}`, { ...plain, [letter]: answer });
      expect(refused.status).toBe(400);
    },
  );
});
