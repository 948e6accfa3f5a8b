import { expect, it } from 'vitest';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { rowsOf, runInDatabase } from '../support/instances/live-database.ts';
import { complete, letter } from '../support/instances/live-subject.ts';
import { recordAnswers, submitForCode } from '../support/instances/live-transactions.ts';
import { tablesWith } from '../support/instances/tables-with.ts';
import { until } from '../support/run/until.ts';

const instance = useInstance();
const shop = useSetup(() => createKey(instance));
const admin = useSetup(() => signIn(instance, 'admin'));

/** The writes of an erasure, in their order: statement, table, and a condition on its rows. */
const writes = [
  ['UPDATE', 'transactions', "NEW.state = 'CANCELLED'"],
  ['DELETE', 'context_claims', 'true'],
  ['UPDATE', 'transactions', 'NEW.erased_at IS NOT NULL'],
  ['DELETE', 'receipts', 'true'],
  ['INSERT', 'erased_receipts', 'true'],
  ['UPDATE', 'records', "NEW.state = 'ERASED'"],
  ['INSERT', 'outbox', "NEW.event->>'type' = 'io.accord.subject.erased.v1'"],
  ['UPDATE', 'erasures', "NEW.counts <> '{}'"],
  ['DELETE', 'subjects', 'true'],
  ['INSERT', 'audit_log', "NEW.action = 'subject.erased'"],
  ['UPDATE', 'erasures', "NEW.state = 'DONE'"],
] as const;

const erase = async (subject: string) => {
  const answer = await admin.send('POST', `/subjects/${encodeURIComponent(subject)}/erasure`);
  expect(answer.status).toBe(202);
  return ((await answer.json()) as { id: string }).id;
};
const stateOf = async (id: string) =>
  ((await (await admin.get(`/erasures/${id}`)).json()) as { state: string }).state;

/**
 * Has a write fail that follows from `during`. Its database transaction is rolled back, as if the process
 * were killed in it.
 */
async function failing([statement, table, condition]: (typeof writes)[number], during: () => Promise<void>) {
  await runInDatabase(
    instance,
    `CREATE SEQUENCE transactions.failures;
     GRANT USAGE ON SEQUENCE transactions.failures TO PUBLIC;
     CREATE FUNCTION transactions.fail() RETURNS trigger LANGUAGE plpgsql AS
       $$ BEGIN PERFORM nextval('transactions.failures'); RAISE EXCEPTION 'interrupted'; END $$;
     CREATE TRIGGER fail BEFORE ${statement} ON transactions.${table}
       FOR EACH ROW ${condition === 'true' ? '' : `WHEN (${condition})`} EXECUTE FUNCTION transactions.fail()`,
  );
  await during();
  const failed = 'SELECT last_value::int AS count, is_called AS "isCalled" FROM transactions.failures';
  await until(async () => expect(await rowsOf(instance, failed)).toMatchObject([{ isCalled: true }]));
  await runInDatabase(
    instance,
    `DROP TRIGGER fail ON transactions.${table}; DROP FUNCTION transactions.fail();
     DROP SEQUENCE transactions.failures`,
  );
}

it('an erasure that is interrupted in any of its writes is completed, and leaves nothing of the person', {
  timeout: 60_000,
}, async () => {
  const erasures: string[] = [];
  for (const [place, write] of writes.entries()) {
    const subject = `interrupted-person-${place}`;
    await recordAnswers(shop, subject, { [letter]: ['accepted'] });
    await submitForCode(shop, { subject }, complete);
    await failing(write, async () => void erasures.push(await erase(subject)));
  }
  // Another erasure wakes the job.
  await recordAnswers(shop, 'interrupted-person-last', { [letter]: ['accepted'] });
  erasures.push(await erase('interrupted-person-last'));
  for (const id of erasures) await until(async () => expect(await stateOf(id)).toBe('DONE'));
  expect(await tablesWith(instance, 'interrupted-person')).toEqual([]);
  const counts = await rowsOf<{ erased: number }>(
    instance,
    `SELECT (counts->>'transactions')::int AS erased FROM transactions.erasures WHERE id = ANY($1)`,
    [erasures.slice(0, -1)],
  );
  expect(counts.map(({ erased }) => erased)).toEqual(writes.map(() => 2));
});
