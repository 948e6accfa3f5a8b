import { expect, it } from 'vitest';
import { startKillableInstance } from '../support/instances/killable-instance.ts';
import {
  acknowledge,
  addRecipient,
  recipientsOf,
  withdrawNew,
} from '../support/instances/live-recipients.ts';
import { startEndpoint } from '../support/instances/webhook-endpoint.ts';

it('kill -9 while recipients are told and acknowledge loses no notice and doubles none', async () => {
  const { shop, kill, startAgain } = await startKillableInstance();
  const endpoint = await startEndpoint();
  await addRecipient(shop, endpoint.url, { acknowledgeWithin: 'P1D' });
  const withdrawals: { id: string }[] = [];
  for (const _ of Array(12)) withdrawals.push(await withdrawNew(shop));
  await endpoint.called(1);

  for (const _ of Array(3)) {
    // Acknowledges what has come so far; the process is killed meanwhile.
    const sent = endpoint.calls.map(({ event }) =>
      acknowledge(event.data.acknowledge).catch(() => undefined),
    );
    await kill();
    await Promise.all(sent);
    await startAgain();
  }
  const distinct = () => new Map(endpoint.calls.map(({ message, event }) => [message, event]));
  await expect.poll(() => distinct().size, { timeout: 30_000 }).toBe(withdrawals.length);
  for (const [, { data }] of distinct()) expect((await acknowledge(data.acknowledge)).status).toBe(204);
  for (const withdrawal of withdrawals)
    await expect
      .poll(() => recipientsOf(shop, withdrawal), { timeout: 30_000 })
      .toEqual([expect.objectContaining({ name: 'Letters Ltd', state: 'ACKNOWLEDGED', outcome: 'done' })]);
}, 120_000);
