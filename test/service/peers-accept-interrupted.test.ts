import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HeldUp, holdUp } from '../support/instances/held-up.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { type OwnerInstance, startOwner } from '../support/instances/owner-instance.ts';
import { digestOf, makePart, type Part } from '../support/peers/peer-parts.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

let lab: OwnerInstance;
beforeAll(async () => {
  lab = await startOwner();
  await lab.share('processing.001');
}, 60_000);
afterAll(() => lab?.stop());

type Table = 'receipts' | 'receipt_drafts' | 'outbox' | 'records';

/** Does something while nobody can write to a table. */
async function whileHeldUp(table: Table, work: (lock: HeldUp) => Promise<void>): Promise<void> {
  const lock = await holdUp(lab, `LOCK TABLE transactions.${table} IN SHARE MODE`);
  await work(lock).finally(() => lock.release());
}

/**
 * Blocks the storing of a part after its verdict was written: another session is inserting its subject.
 */
async function whileStoring({ submission }: Part, work: (lock: HeldUp) => Promise<void>): Promise<void> {
  const lock = await holdUp(
    lab,
    `INSERT INTO transactions.subjects (id, name, created_at, modified_at)
     VALUES (gen_random_uuid(), '${submission.subject}', now(), now())`,
  );
  await work(lock).finally(() => lock.release());
}

/** How much of a part is stored. */
async function stored({ sid, submission }: Part): Promise<Record<string, number>> {
  const [counts] = await rowsOf<Record<string, number>>(
    lab,
    `SELECT (SELECT count(*)::int FROM transactions.received_parts WHERE sid = $1) AS submissions,
            (SELECT count(*)::int FROM transactions.transactions WHERE subject = $2) AS transactions,
            (SELECT count(*)::int FROM transactions.records WHERE subject = $2) AS records,
            (SELECT count(*)::int FROM transactions.receipts AS r JOIN transactions.transactions AS t ON t.id = r.transaction
              WHERE t.subject = $2) AS receipts`,
    [sid, submission.subject],
  );
  return counts ?? {};
}
const nothing = { submissions: 0, transactions: 0, records: 0, receipts: 0 };
const once = { submissions: 1, transactions: 1, records: 1, receipts: 1 };

describe('a part whose database connection breaks', () => {
  it.each(['records', 'receipts', 'outbox'] as const)(
    'leaves no rows (at %s), and is accepted when it arrives again',
    async (table) => {
      const part = await makePart(lab);
      await whileHeldUp(table, async (lock) => {
        const first = expect(lab.one.acceptSubmission(part)).rejects.toMatchObject({ code: 'unavailable' });
        await lock.kill(await lock.waiting(1));
        await first;
      });
      expect(await stored(part)).toEqual(nothing);
      expect((await lab.one.acceptSubmission(part)).verdict).toBe('committed');
      expect(await stored(part)).toEqual(once);
    },
  );

  it('is stored by another replica that was waiting for the same part', async () => {
    const part = await makePart(lab);
    let second: ReturnType<typeof lab.other.acceptSubmission> | undefined;
    await whileStoring(part, async (lock) => {
      const first = expect(lab.one.acceptSubmission(part)).rejects.toMatchObject({ code: 'unavailable' });
      const backend = await lock.waiting(1);
      second = lab.other.acceptSubmission(part);
      await lock.waiting(2);
      await lock.kill(backend);
      await first;
    });
    expect(await second).toEqual({ verdict: 'committed', id: expect.any(String) });
    expect(await stored(part)).toEqual(once);
  });

  it('is unchanged if its decision is interrupted', async () => {
    const part = await makePart(lab, { submission: { mode: 'hold' } });
    const { id } = await lab.one.acceptSubmission(part);
    const decided = { peer: part.peer, sid: part.sid, decision: 'commit' } as const;
    await whileHeldUp('receipts', async (lock) => {
      const first = expect(lab.one.decideSubmission(decided)).rejects.toMatchObject({ code: 'unavailable' });
      await lock.kill(await lock.waiting(1));
      await first;
    });
    expect(await stored(part)).toEqual({ ...once, receipts: 0 });
    expect(await lab.other.acceptSubmission(part)).toEqual({ verdict: 'held', id });
    expect(await lab.one.decideSubmission(decided)).toEqual({ verdict: 'committed', id });
    expect(await stored(part)).toEqual(once);
  });
});

describe('a part that arrives again while it is being stored', () => {
  it('gets the verdict of the first', async () => {
    const part = await makePart(lab);
    const said: ReturnType<typeof lab.other.acceptSubmission>[] = [];
    await whileStoring(part, async (lock) => {
      said.push(lab.one.acceptSubmission(part));
      await lock.waiting(1);
      said.push(lab.other.acceptSubmission(part), lab.one.acceptSubmission(part));
      await lock.waiting(3);
    });
    const [first, ...others] = await Promise.all(said);
    expect(first?.verdict).toBe('committed');
    for (const other of others) expect(other).toEqual(first);
    expect(await stored(part)).toEqual(once);
  });

  it('is a conflict if its content differs', async () => {
    const part = await makePart(lab);
    const submission = { ...part.submission, validity: 'P1Y' };
    const changed = { ...part, submission, digest: digestOf(submission) };
    let second: ReturnType<typeof lab.other.acceptSubmission> | undefined;
    let first: typeof second;
    await whileStoring(part, async (lock) => {
      first = lab.one.acceptSubmission(part);
      await lock.waiting(1);
      second = lab.other.acceptSubmission(changed);
      await lock.waiting(2);
    });
    // Both may have waited with nothing stored: then either is the first.
    const said = await Promise.all([first, second]);
    expect(said.map((verdict) => verdict?.verdict).sort()).toEqual(['committed', 'refused']);
    expect(said).toContainEqual({ verdict: 'refused', reason: 'conflict' });
    expect(await stored(part)).toEqual(once);
  });

  it('is decided if its decision arrives with it', async () => {
    const part = await makePart(lab, { submission: { mode: 'hold' } });
    let held: ReturnType<typeof lab.one.acceptSubmission> | undefined;
    let decided: typeof held;
    await whileHeldUp('receipt_drafts', async (lock) => {
      held = lab.one.acceptSubmission(part);
      await lock.waiting(1);
      decided = lab.other.decideSubmission({ peer: part.peer, sid: part.sid, decision: 'rollback' });
      await lock.waiting(2);
    });
    expect(await held).toMatchObject({ verdict: 'held' });
    expect(await decided).toEqual({ verdict: 'rolledback', id: (await held)?.id });
  });
});

describe('a part with an element that is deleted concurrently', () => {
  it('is refused as `unknown-element`, and only the refusal is stored', async () => {
    const { key } = await makeLiveModel(lab.admin, 'processing', { en: sampleContent.processing });
    await lab.share(key);
    const part = await makePart(lab, { answers: { [`element/processing/${key}/1.0`]: ['accepted'] } });
    const lock = await holdUp(lab, `SET LOCAL search_path = forms; DELETE FROM models WHERE key = '${key}'`);
    const said = lab.one.acceptSubmission(part);
    await lock.waiting(1).finally(() => lock.release('COMMIT'));
    expect(await said).toEqual({ verdict: 'refused', reason: 'unknown-element' });
    expect(await stored(part)).toEqual({ ...nothing, submissions: 1 });
  });
});
