import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createLogger } from '#lib/observability/logger.ts';
import type { ReportedVerdict } from '../../services/transactions/sent-parts/notice.ts';
import { createTransactionTokens } from '../../services/transactions/transaction/token.ts';
import { applyVerdict } from '../../services/transactions/verdicts/follow-verdicts.ts';
import { createCommittedVerdictWriter } from '../../services/transactions/verdicts/store.ts';
import { answered, type LeadingInstance, startLeading } from '../support/instances/leader-instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { eventsOf, historyOf } from '../support/instances/live-events.ts';
import type { LiveTransaction } from '../support/instances/live-transactions.ts';
import { noMessaging } from '../support/instances/no-messaging.ts';

let here: LeadingInstance;
beforeAll(async () => {
  here = await startLeading();
}, 60_000);
afterAll(() => here?.stop());

const submitted = () => answered(here, { peerCommit: 'together' });

/** Applies verdicts of owners at several replicas while the transaction is locked, then unlocks it. */
async function applyAtOnce(made: LiveTransaction, verdicts: ReportedVerdict['verdict'][]): Promise<void> {
  const partners = [here.lab, here.clinic];
  const parts = await Promise.all(partners.map((partner) => here.partOf(made, partner)));
  const gate = new pg.Client({ connectionString: here.databaseUrl });
  await gate.connect();
  await gate.query('BEGIN');
  await gate.query('SELECT id FROM transactions.transactions WHERE id = $1 FOR UPDATE', [made.id]);
  const log = createLogger({ level: 'silent' });
  const { db } = here;
  const writeCommittedVerdict = createCommittedVerdictWriter(db, { consumer: 'test', source: here.url });
  const tokens = createTransactionTokens({ secrets: [Buffer.alloc(32)], baseUrl: here.url });
  const applied = verdicts.map((verdict, index) =>
    applyVerdict(
      {
        db,
        log,
        consumer: 'test',
        writeCommittedVerdict,
        instance: { name: 'Here', baseUrl: here.url },
        tokens,
        messaging: noMessaging,
        signReceipt: () => 'signed',
        wake() {},
      },
      {
        eventId: randomUUID(),
        verdict: {
          submission: parts[index]?.sid ?? '',
          peer: partners[index]?.url ?? '',
          about: 'part',
          verdict,
        },
      },
    ),
  );
  await vi.waitFor(
    async () => {
      const waiting = await rowsOf(
        here,
        `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
      );
      expect(waiting).toHaveLength(verdicts.length);
    },
    { timeout: 15_000, interval: 20 },
  );
  await gate.query('COMMIT');
  await gate.end();
  await Promise.all(applied);
}
const statesOf = async (made: LiveTransaction) =>
  (await historyOf(here, made)).map(({ state }) => state).slice(1);

describe('concurrent verdicts of two owners', () => {
  it('commit the answers once if both hold their parts', async () => {
    const made = await submitted();
    await applyAtOnce(made, ['held', 'held']);
    expect(await statesOf(made)).toEqual(['SUBMITTED', 'COMMITTED']);
    const committed = (await eventsOf(here, made)).filter(({ event }) => event.type.includes('.committed.'));
    expect(committed).toHaveLength(1);
    for (const partner of [here.lab, here.clinic]) {
      const { sid, state } = await here.partOf(made, partner);
      expect(state).toBe('HELD');
      expect((await here.toldOf(sid)).map(({ data }) => data.decision)).toEqual([undefined, 'commit']);
    }
  });

  it('roll the answers back if one of them refuses', async () => {
    for (const verdicts of [
      ['held', 'refused'],
      ['refused', 'held'],
      ['refused', 'refused'],
    ] as const) {
      const made = await submitted();
      await applyAtOnce(made, [...verdicts]);
      expect(await statesOf(made)).toEqual(['SUBMITTED', 'ROLLBACK']);
    }
  });
});
