import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ReportedVerdict } from '../../services/transactions/sent-parts/notice.ts';
import { movesInCommitMode } from '../../services/transactions/sent-parts/part.ts';
import {
  type CommittedVerdictResult,
  createCommittedVerdictWriter,
} from '../../services/transactions/verdicts/store.ts';
import { answered, type LeadingInstance, startLeading } from '../support/instances/leader-instance.ts';
import { eventsOf } from '../support/instances/live-events.ts';
import type { LiveTransaction } from '../support/instances/live-transactions.ts';
import { until } from '../support/run/until.ts';

let here: LeadingInstance;
beforeAll(async () => {
  here = await startLeading();
}, 60_000);
afterAll(() => here?.stop());

const committed = () => answered(here);

interface SentVerdict {
  of: LiveTransaction;
  verdict: ReportedVerdict['verdict'];
  /** The owner of the part, and the sender of the verdict. */
  part?: 'lab' | 'clinic';
  from?: 'lab' | 'clinic';
  reason?: string;
  eventId?: string;
}

/** Applies verdicts that arrive in one turn of the event loop. */
async function apply(verdicts: readonly SentVerdict[]): Promise<CommittedVerdictResult[]> {
  const source = here.url;
  const writeCommittedVerdict = createCommittedVerdictWriter(here.db, { consumer: 'test', source });
  const read = await Promise.all(
    verdicts.map(
      async ({ of, verdict, part = 'lab', from = part, reason = 'invalid', eventId = randomUUID() }) => {
        const { sid } = await here.partOf(of, here[part]);
        const moves = movesInCommitMode({ verdict, ...(verdict === 'refused' && { reason }) });
        return { eventId, sid, location: here[from].url, remoteId: undefined, moves };
      },
    ),
  );
  return Promise.all(read.map(writeCommittedVerdict));
}
const stateOf = async (made: LiveTransaction, part: 'lab' | 'clinic' = 'lab') =>
  (await here.partOf(made, here[part])).state;
const changed = { applied: true, wasDropped: false };
const notApplied = { applied: false, wasDropped: false };

describe('concurrent verdicts on parts of committed transactions', () => {
  it('each change their own part and write their own event', async () => {
    const [one, other] = [await committed(), await committed()];
    expect(
      await apply([
        { of: one, verdict: 'done' },
        { of: other, verdict: 'refused' },
        { of: one, part: 'clinic', verdict: 'refused' },
      ]),
    ).toEqual([changed, changed, changed]);
    expect([await stateOf(one), await stateOf(other), await stateOf(one, 'clinic')]).toEqual([
      'ACCEPTED',
      'REFUSED',
      'REFUSED',
    ]);
    const told = (await eventsOf(here, one)).filter(({ event }) => event.type.includes('.peer.submission.'));
    expect(told.map(({ event }) => event.type.split('.').at(-2)).sort()).toEqual(['accepted', 'refused']);
    expect(new Set(told.map(({ event }) => event.id)).size).toBe(2);
  });

  it('are applied once per event, also if it arrives again', async () => {
    const [transaction, eventId] = [await committed(), randomUUID()];
    const sent: SentVerdict = { of: transaction, verdict: 'done', eventId };
    expect(await apply([sent, sent])).toEqual([changed, notApplied]);
    expect(await apply([sent])).toEqual([notApplied]);
  });

  it('about one part: the first is applied', async () => {
    const transaction = await committed();
    const outcomes = await apply([
      { of: transaction, verdict: 'refused' },
      { of: transaction, verdict: 'done' },
    ]);
    expect(outcomes).toEqual([changed, notApplied]);
    expect(await stateOf(transaction)).toBe('REFUSED');
  });

  it('are applied even if the database refuses one of them', async () => {
    const [one, other] = [await committed(), await committed()];
    const outcomes = apply([
      { of: one, verdict: 'done' },
      { of: one, part: 'clinic', verdict: 'refused', reason: 'a\u0000b' },
      { of: other, verdict: 'done' },
    ]);
    await expect(outcomes).rejects.toMatchObject({ code: '22P05' });
    await until(async () =>
      expect([await stateOf(one), await stateOf(other)]).toEqual(['ACCEPTED', 'ACCEPTED']),
    );
    expect(await stateOf(one, 'clinic')).toBe('SENDING');
  });

  it('are ignored for parts of other peers, and do not prevent the others', async () => {
    const transaction = await committed();
    const outcomes = await apply([
      { of: transaction, part: 'clinic', from: 'lab', verdict: 'refused' },
      { of: transaction, verdict: 'done' },
    ]);
    expect(outcomes).toEqual([notApplied, changed]);
    expect(await stateOf(transaction, 'clinic')).toBe('SENDING');
  });
});
