import { expect, it } from 'vitest';
import { createKey } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { complete, letter, subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction, recordAnswers } from '../support/instances/live-transactions.ts';

const instance = useInstance();
const shop = useSetup(() => createKey(instance));

/** How many submissions have been counted, whatever their status. */
async function submissions(): Promise<number> {
  const counts = (await instance.metrics()).matchAll(
    /^accord_submit_duration_seconds_count\{[^}]*\} (\d+)$/gm,
  );
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

it('the duration of submissions counts submissions, refused ones too, and neither cancellations nor forms', async () => {
  const [answered, cancelled] = [await createTransaction(shop), await createTransaction(shop)];
  await subjectOf(instance, answered).form();
  expect((await shop.send('POST', `/consents/${cancelled.id}/cancel`)).status).toBe(200);
  expect(await submissions()).toBe(0);
  expect((await subjectOf(instance, answered).submit({ [letter]: ['perhaps'] })).status).toBe(422);
  expect((await subjectOf(instance, answered).submit(complete)).status).toBe(200);
  await recordAnswers(shop, 'alice', { [letter]: ['accepted'] });
  expect(await submissions()).toBe(3);
});
