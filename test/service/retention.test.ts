import { expect, it, vi } from 'vitest';
import { signIn } from '../support/instances/callers.ts';
import { startKillableInstance } from '../support/instances/killable-instance.ts';
import { letTimePass, rowsOf, runInDatabase } from '../support/instances/live-database.ts';
import { letter, study } from '../support/instances/live-subject.ts';
import { createTransaction, recordAnswers } from '../support/instances/live-transactions.ts';

it('erases what is over after its retention, and keeps refusals, valid answers and held people', {
  timeout: 120_000,
}, async () => {
  const { database, shop, instance } = await startKillableInstance({ RECORD_RETENTION: 'P1Y' });
  const admin = await signIn(instance, 'admin');
  const once = (subject: string, answers: Record<string, string[]>, object = '') =>
    recordAnswers(shop, subject, answers, { validity: 'P6M', ...(object && { object }) });
  // A withdrawal of a peer's part alone has no records.
  const partsAlone = await recordAnswers(shop, 'perry', { [study]: ['refused'] });
  await runInDatabase({ databaseUrl: database }, 'DELETE FROM transactions.records WHERE transaction = $1', [
    partsAlone.id,
  ]);
  const made = {
    expired: await once('eva', { [letter]: ['accepted'] }),
    refused: await once('rita', { [letter]: ['refused'] }),
    mixed: await once('mia', { [letter]: ['accepted'], [study]: ['refused'] }),
    valid: await recordAnswers(shop, 'vera', { [letter]: ['accepted'] }, { validity: 'P9Y' }),
    held: await once('hilda', { [letter]: ['accepted'] }),
    abandoned: await createTransaction(shop, { subject: 'anna', timeout: 'P1D' }),
    superseded: await once('susi', { [letter]: ['refused'] }),
    withdrawn: await once('willa', { [letter]: ['accepted'] }),
  };
  const long = { validity: 'P9Y' };
  await recordAnswers(shop, 'tom', { [letter]: ['accepted'], [study]: ['accepted'] }, long);
  const short = await recordAnswers(shop, 'tom', { [letter]: ['accepted'] }, { validity: 'P1M' });
  const unused = await admin.send('POST', '/subjects', { name: 'ulla', emailAddress: 'ulla@example.org' });
  expect(unused.status).toBe(201);
  const { id: withdrawal } = await recordAnswers(shop, 'willa', { [letter]: ['refused'] });
  const afterWithdrawal = new Date(Date.now() + 60_000).toISOString();
  const decided = async (query = '', subject = 'willa') => {
    const answer = await shop.get(`/decisions?subject=${subject}&element=processing.001${query}`);
    const { reason } = (await answer.json()) as { reason: string };
    return { reason, etag: answer.headers.get('etag') };
  };
  const before = await decided();
  expect(before.reason).toBe('WITHDRAWN');
  /** A person whose own answer was superseded, and whose part a peer has accepted. */
  const withPart = async (name: string, { validity = 'P9Y', ...part }: Record<string, string> = {}) => {
    const { id } = await recordAnswers(shop, name, { [letter]: ['accepted'] }, { validity });
    await recordAnswers(
      shop,
      name,
      { [letter]: ['accepted'] },
      { validity: 'P9Y', attributes: { is: 'newer' } },
    );
    await addPart(id, { validity, ...part });
    return id;
  };
  const addPart = (
    id: string,
    { type = 'processing', validity = 'P9Y', withdrawal = '', outcome = 'ACKNOWLEDGED' },
  ) =>
    runInDatabase(
      { databaseUrl: database },
      `WITH part AS (
         INSERT INTO transactions.sent_parts (sid, transaction, place, location, name, state, version, mode,
                                             language, shown, validity, deadline, changed_at)
         SELECT substr($1, 1, 21) || 'p', $1, 0, 'https://lab.example', 'Lab', 'ACCEPTED', 2, 'commit', 'en', $2,
                $5::text, now(), now() RETURNING *)
       INSERT INTO transactions.notices (withdrawal, recipient, kind, location, name, state, since, created_at)
       SELECT $3, p.sid, 'PEER', p.location, p.name, $4, now(), now() FROM part AS p WHERE $3 <> ''`,
      [
        id,
        { elements: [{ identifier: `element/${type}/study/1.0` }] },
        withdrawal,
        outcome,
        type === 'conditions' ? null : validity,
      ],
    );
  await withPart('paul');
  await withPart('petra', { validity: 'P1M', type: 'conditions' });
  const partOver = await withPart('pia', { validity: 'P1M' });
  const partWithdrawn = await withPart('piet', { withdrawal: made.refused.id });
  await withPart('pelle', { withdrawal: made.refused.id, outcome: 'FAILED' });
  await runInDatabase(
    { databaseUrl: database },
    `UPDATE transactions.transactions AS t
        SET leader = CASE WHEN t.id = $1 THEN '{"location": "https://clinic.example", "id": "there"}'::jsonb END,
            context = t.context || '{"origin": "PEER"}', kind = CASE WHEN t.id = $2 THEN 'WITHDRAWAL' END,
            parent = CASE WHEN t.id = $2 THEN $1 END
      WHERE t.id IN ($1, $2)`,
    [made.withdrawn.id, withdrawal],
  );
  const still = await recordAnswers(shop, 'perry', { [letter]: ['accepted'] }, { validity: 'P9Y' });
  await addPart(still.id, { withdrawal: partsAlone.id });
  const { id: newer } = await once('susi', { [letter]: ['accepted'], [study]: ['refused'] });
  expect((await admin.send('PUT', '/subjects/hilda/hold', { reason: 'Claim 9' })).status).toBe(200);
  const erased = async () => {
    const rows = await rowsOf<{ id: string }>(
      { databaseUrl: database },
      'SELECT id FROM transactions.transactions WHERE erased_at IS NOT NULL',
    );
    return rows.map(({ id }) => id).sort();
  };
  const reach = (ids: string[]) =>
    vi.waitFor(async () => expect(await erased()).toEqual(ids.sort()), { timeout: 30_000, interval: 200 });

  await letTimePass({ databaseUrl: database }, '2 days');
  const stored = () =>
    rowsOf({ databaseUrl: database }, `SELECT FROM transactions.transactions WHERE state = 'TIMEOUT'`);
  await vi.waitFor(async () => expect(await stored()).toHaveLength(1), { timeout: 20_000 });
  await letTimePass({ databaseUrl: database }, '100 days');
  await reach([made.abandoned.id]);
  for (const name of ['anna', 'ulla'])
    await vi.waitFor(async () => expect((await shop.get(`/subjects/${name}`)).status).toBe(404));
  const expired = await decided('', 'tom');
  expect(expired.reason).toBe('EXPIRED');

  await letTimePass({ databaseUrl: database }, '20 months');
  await reach([
    made.abandoned.id,
    made.expired.id,
    made.superseded.id,
    made.withdrawn.id,
    short.id,
    partOver,
    partWithdrawn,
  ]);
  expect(await erased()).not.toContain(newer);
  // The longer consent that the expired one had replaced is not in force again.
  expect((await decided('', 'tom')).reason).toBe('NO_ANSWER');
  // A withdrawal that a peer ordered still names the peer after the part was erased.
  const [left] = await rowsOf<{ leader: { location: string } | null; parent: string | null }>(
    { databaseUrl: database },
    `SELECT leader, parent FROM transactions.transactions WHERE id = '${withdrawal}'`,
  );
  expect([left?.parent, left?.leader?.location]).toEqual([null, 'https://clinic.example']);
  // The refusal that is left is still a withdrawal, now and as of then.
  expect(await erased()).not.toContain(withdrawal);
  expect(await decided()).toEqual(before);
  expect(await decided(`&asOf=${afterWithdrawal}`)).toEqual(before);
});
