import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { OwnerVerdict } from '#lib/contracts/parts.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { endOverdue } from '../../services/transactions/answer/end-transactions.ts';
import { repeatHeldEvents } from '../../services/transactions/received-parts/store.ts';
import { letTimePass, rowsOf } from '../support/instances/live-database.ts';
import { eventsOf, historyOf, keepEvents } from '../support/instances/live-events.ts';
import { recordsOf } from '../support/instances/live-transactions.ts';
import { type OwnerInstance, startOwner } from '../support/instances/owner-instance.ts';
import { digestOf, makePart, newPeer, type Part, type PartChanges } from '../support/peers/peer-parts.ts';
import { until } from '../support/run/until.ts';

type Transaction = components['schemas']['Transaction'];

let lab: OwnerInstance;
beforeAll(async () => {
  lab = await startOwner();
  await keepEvents(lab);
  for (const key of ['processing.001', 'preference.001']) await lab.share(key);
}, 60_000);
afterAll(() => lab?.stop());

const makeHeld = (changes: PartChanges = {}) =>
  makePart(lab, { ...changes, submission: { mode: 'hold', ...changes.submission } });
/** Hands over a part that is held. @returns it, and the id of its transaction. */
async function hold(changes: PartChanges = {}): Promise<{ part: Part; id: string }> {
  const part = await makeHeld(changes);
  const said = await lab.one.acceptSubmission(part);
  expect(said).toEqual({ verdict: 'held', id: expect.any(String) });
  return { part, id: said.id as string };
}
const decide = (
  { peer, sid }: Pick<Part, 'peer' | 'sid'>,
  decision: 'commit' | 'rollback',
  replica = lab.one,
) => replica.decideSubmission({ peer, sid, decision });
const transactionOf = async (id: string) =>
  (await (await lab.admin.get(`/consents/${id}`)).json()) as Transaction;
const recordOf = async ({ submission }: Part) =>
  (await recordsOf(lab.admin, submission.subject))['processing.001']?.[0];

describe('a part that is held', () => {
  it('has pending records and no receipt, and earlier answers stay valid', async () => {
    const first = await makePart(lab);
    await lab.one.acceptSubmission(first);
    const { part, id } = await hold({
      answers: { 'element/processing/processing.001/1.0': ['refused'] },
      submission: { subject: first.submission.subject },
    });
    const transaction = await transactionOf(id);
    expect(transaction).toMatchObject({ state: 'SUBMITTED', leader: part.submission.leader });
    expect(transaction).not.toHaveProperty('task');
    expect(transaction).not.toHaveProperty('receipt');
    expect((await lab.admin.get(`/receipts/${id}`)).status).toBe(404);
    const records = (await recordsOf(lab.admin, part.submission.subject))['processing.001'];
    expect(records).toMatchObject([
      {
        values: ['refused'],
        state: 'PENDING',
        status: 'IRRELEVANT',
        statusExplanation: 'STILL_PENDING',
        origin: 'PEER',
      },
      { values: ['accepted'], state: 'COMMITTED', status: 'VALID' },
    ]);
  });

  it('makes the owner ask the leader if the decision is late', async () => {
    const { part } = await hold();
    expect(await eventsOf(lab, { id: part.sid })).toMatchObject([
      {
        topic: 'accord.peer-submissions',
        event: {
          type: 'io.accord.submission.held.v1',
          subject: part.sid,
          source: lab.url,
          data: { submission: part.sid, peer: part.peer.url },
        },
      },
    ]);
  });

  it("is in force from the leader's commit, for the period that the subject saw", async () => {
    const { part, id } = await hold({ submission: { validity: 'P1Y' } });
    expect(await decide(part, 'commit')).toEqual({ verdict: 'committed', id });
    expect((await transactionOf(id)).state).toBe('COMMITTED');
    expect(await recordOf(part)).toMatchObject({ state: 'COMMITTED', status: 'VALID' });
    const receipt = (await (await lab.admin.get(`/receipts/${id}`)).json()) as Record<string, string>;
    const [row] = await rowsOf<{ committed: Date; expires: Date }>(
      lab,
      'SELECT committed_at AS committed, expires_at AS expires FROM transactions.records WHERE transaction = $1',
      [id],
    );
    expect(receipt).toMatchObject({
      transaction: id,
      collectionMethod: 'PEER',
      leader: part.submission.leader,
      timestamp: row?.committed.toISOString(),
      expirationTimestamp: row?.expires.toISOString(),
    });
    expect(row?.expires.getUTCFullYear()).toBe((row?.committed.getUTCFullYear() ?? 0) + 1);
    const states = ['CREATED', 'SUBMITTED', 'COMMITTED'];
    expect(await historyOf(lab, { id })).toEqual(
      states.map((state, index) => ({ state, version: index + 1 })),
    );
    expect((await eventsOf(lab, { id })).map(({ event }) => event.type)).toEqual(
      ['created', 'submitted', 'committed'].map((name) => `io.accord.consent.${name}.v1`),
    );
  });

  it('is never in force if its leader rolls it back', async () => {
    const { part, id } = await hold();
    expect(await decide(part, 'rollback')).toEqual({ verdict: 'rolledback', id });
    expect((await transactionOf(id)).state).toBe('ROLLBACK');
    expect(await recordOf(part)).toMatchObject({ state: 'ROLLED_BACK', status: 'IRRELEVANT' });
    expect((await lab.admin.get(`/receipts/${id}`)).status).toBe(404);
    expect((await eventsOf(lab, { id })).at(-1)?.event.type).toBe('io.accord.consent.rolledback.v1');
    expect(
      await rowsOf(lab, 'SELECT * FROM transactions.receipt_drafts WHERE transaction = $1', [id]),
    ).toEqual([]);
  });

  it.each(['commit', 'rollback'] as const)(
    'keeps the first decision (%s) if others follow',
    async (first) => {
      const { part, id } = await hold();
      const said = { verdict: first === 'commit' ? 'committed' : 'rolledback', id };
      for (const decision of [first, 'commit', 'rollback', first] as const)
        for (const replica of [lab.one, lab.other])
          expect(await decide(part, decision, replica)).toEqual(said);
      expect(await historyOf(lab, { id })).toHaveLength(3);
      // The part itself, sent once more, gets the verdict that it has now.
      expect(await lab.other.acceptSubmission(part)).toEqual(said);
    },
  );

  it('is decided once by two concurrent decisions', async () => {
    const { part, id } = await hold();
    const said = await Promise.all(
      (['commit', 'rollback', 'commit', 'rollback'] as const).map((decision, index) =>
        decide(part, decision, index < 2 ? lab.one : lab.other),
      ),
    );
    expect(new Set(said.map(({ verdict }) => verdict)).size).toBe(1);
    const state = said[0]?.verdict === 'committed' ? 'COMMITTED' : 'ROLLBACK';
    expect((await transactionOf(id)).state).toBe(state);
    expect(await historyOf(lab, { id })).toHaveLength(3);
  });

  it('is held once when two replicas receive it at the same time', async () => {
    const part = await makeHeld();
    const said = await Promise.all(
      [lab.one, lab.other, lab.one].map((replica) => replica.acceptSubmission(part)),
    );
    expect(new Set(said.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(await eventsOf(lab, { id: part.sid })).toHaveLength(1);
  });

  it('cannot be decided by another peer or cancelled by the owner', async () => {
    const { part, id } = await hold();
    expect(await decide({ peer: newPeer(), sid: part.sid }, 'commit')).toEqual({ verdict: 'rolledback' });
    expect((await lab.admin.send('POST', `/consents/${id}/cancel`)).status).toBe(409);
    expect((await transactionOf(id)).state).toBe('SUBMITTED');
    expect(await decide(part, 'commit')).toEqual({ verdict: 'committed', id });
  });

  it('is refused if it is not valid', async () => {
    const part = await makeHeld({ answers: { 'element/processing/processing.001/1.0': ['perhaps'] } });
    const refused: OwnerVerdict = { verdict: 'refused', reason: 'invalid' };
    expect(await lab.one.acceptSubmission(part)).toEqual(refused);
    for (const decision of ['commit', 'rollback'] as const)
      expect(await decide(part, decision)).toEqual(refused);
  });
});

describe('a decision', () => {
  it.each(['commit', 'rollback'] as const)(
    '(%s) about a part that never arrived is answered with rolledback, and the part is refused afterwards',
    async (decision) => {
      const part = await makeHeld();
      expect(await decide(part, decision)).toEqual({ verdict: 'rolledback' });
      expect(await decide(part, decision, lab.other)).toEqual({ verdict: 'rolledback' });
      const refused = /accord_submissions_total\{verdict="refused",reason="decided"\} (\d+)/;
      const countOf = async () => Number(refused.exec(await lab.metrics())?.[1] ?? 0);
      const before = await countOf();
      for (const replica of [lab.one, lab.other])
        expect(await replica.acceptSubmission(part)).toEqual({ verdict: 'refused', reason: 'decided' });
      expect(await countOf()).toBe(before + 2);
      expect(await recordOf(part)).toBeUndefined();
      expect(await decide(part, decision)).toEqual({ verdict: 'rolledback' });
    },
  );

  it.each(['commit', 'rollback'] as const)(
    '(%s) does not change a part that was committed immediately',
    async (decision) => {
      const part = await makePart(lab);
      const said = await lab.one.acceptSubmission(part);
      expect(await decide(part, decision)).toEqual(said);
      expect((await transactionOf(said.id as string)).state).toBe('COMMITTED');
    },
  );

  it('that arrives with its part leads to exactly one of two states', async () => {
    const parts = await Promise.all(Array.from({ length: 6 }, () => makeHeld()));
    for (const part of parts) {
      const [said, decided] = await Promise.all([
        lab.one.acceptSubmission(part),
        decide(part, 'commit', lab.other),
      ]);
      if (said.verdict === 'refused') {
        expect([said, decided]).toEqual([
          { verdict: 'refused', reason: 'decided' },
          { verdict: 'rolledback' },
        ]);
        expect(await recordOf(part)).toBeUndefined();
      } else {
        expect([said, decided]).toEqual([
          { verdict: expect.stringMatching(/held|committed/), id: said.id },
          { verdict: 'committed', id: said.id },
        ]);
        expect(await recordOf(part)).toMatchObject({ state: 'COMMITTED' });
      }
    }
  });

  it("is found by peer URL and sid, not by the peer's name", async () => {
    const { part, id } = await hold();
    const renamed = { ...part.peer, name: 'Another name', subjectPrefix: 'x/' };
    expect(await decide({ ...part, peer: renamed }, 'commit')).toEqual({ verdict: 'committed', id });
  });
});

describe('a part whose decision is late', () => {
  it('is shown in the metrics', async () => {
    const figures = async () => {
      const read = await lab.metrics();
      const figure = (name: string) =>
        Number(new RegExp(`^${name}{service="transactions"} (.*)$`, 'm').exec(read)?.[1]);
      return { rows: figure('accord_submissions_held'), age: figure('accord_submissions_held_age_seconds') };
    };
    const before = await figures();
    const { part } = await hold();
    try {
      await letTimePass(lab, '3 days');
      const { rows, age } = await figures();
      expect(rows).toBe(before.rows + 1);
      expect(age).toBeGreaterThan(3 * 24 * 3600 - 60);
      await decide(part, 'rollback');
      expect((await figures()).rows).toBe(before.rows);
    } finally {
      await letTimePass(lab, '0 days');
    }
  });

  it('makes the owner ask again every 26 hours until it is decided', async () => {
    const { part } = await hold();
    const told = async () => (await eventsOf(lab, { id: part.sid })).map(({ event }) => event.data);
    const [first] = await told();
    const letPass = async (hours: number) => {
      await letTimePass(lab, `${hours} hours`);
      await repeatHeldEvents(lab.db, 1_000, lab.url);
    };
    try {
      await letPass(25);
      expect(await told()).toEqual([first]);
      await letTimePass(lab, '27 hours');
      await until(async () => expect(await told()).toEqual([first, first]));
      await letPass(50);
      expect(await told()).toHaveLength(2);
      await letPass(54);
      await until(async () => expect(await told()).toHaveLength(3));
      await decide(part, 'rollback');
      await letPass(100);
      expect(await told()).toHaveLength(3);
    } finally {
      await letTimePass(lab, '0 days');
    }
  });

  it('is not ended by the deadline sweeper of transactions, however late the decision is', async () => {
    const kept = await hold();
    const lost = await hold();
    try {
      await letTimePass(lab, '40 days');
      expect((await transactionOf(kept.id)).state).toBe('SUBMITTED');
      const listed = await lab.admin.get(`/transactions?subject=${kept.part.submission.subject}`);
      expect(await listed.json()).toMatchObject({ values: [{ id: kept.id, state: 'SUBMITTED' }] });
      // The deadline sweeper skips transactions that have a leader.
      await endOverdue(lab.db, 1_000, lab.url);
      expect((await transactionOf(kept.id)).state).toBe('SUBMITTED');
      expect(await decide(kept.part, 'commit')).toEqual({ verdict: 'committed', id: kept.id });
      expect(await recordOf(kept.part)).toMatchObject({ state: 'COMMITTED', status: 'VALID' });
      expect(await decide(lost.part, 'rollback')).toEqual({ verdict: 'rolledback', id: lost.id });
    } finally {
      await letTimePass(lab, '0 days');
    }
  });

  it('gets the same verdict when it is sent again after its seal has expired', async () => {
    const { part, id } = await hold();
    try {
      await letTimePass(lab, '2 days');
      expect(await lab.one.acceptSubmission(part)).toEqual({ verdict: 'held', id });
      const changed = { ...part.submission, sealed: `${part.submission.sealed}A` };
      expect(
        await lab.one.acceptSubmission({ ...part, submission: changed, digest: digestOf(changed) }),
      ).toEqual({
        verdict: 'refused',
        reason: 'conflict',
      });
      expect(await lab.one.acceptSubmission({ ...part, sid: randomId() })).toEqual({
        verdict: 'refused',
        reason: 'seal',
      });
    } finally {
      await letTimePass(lab, '0 days');
    }
  });
});
