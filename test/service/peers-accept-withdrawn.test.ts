import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { rowsOf, runInDatabase } from '../support/instances/live-database.ts';
import { eventsOf, keepEvents } from '../support/instances/live-events.ts';
import { recordAnswers, recordsOf } from '../support/instances/live-transactions.ts';
import { type OwnerInstance, startOwner } from '../support/instances/owner-instance.ts';
import { makePart, newPeer, type Part, type PartChanges } from '../support/peers/peer-parts.ts';
import { until } from '../support/run/until.ts';

type Transaction = components['schemas']['Transaction'];

const letter = 'element/processing/processing.001/1.0';
const often = 'element/preference/preference.001/1.0';

let lab: OwnerInstance;
beforeAll(async () => {
  lab = await startOwner();
  await keepEvents(lab);
  for (const key of ['processing.001', 'preference.001']) await lab.share(key);
}, 60_000);
afterAll(() => lab?.stop());

/** Hands over a part. @returns it, and what the laboratory said of it. */
async function send(changes: PartChanges = {}) {
  const part = await makePart(lab, changes);
  return { part, said: await lab.one.acceptSubmission(part) };
}
const withdraw = ({ peer, sid }: Pick<Part, 'peer' | 'sid'>, replica = lab.one) =>
  replica.withdrawSubmission({ peer, sid });
const answersOf = async ({ submission: { subject } }: Pick<Part, 'submission'>) =>
  ((await recordsOf(lab.admin, subject))['processing.001'] ?? []).map(({ value, state }) => [value, state]);
const inForce = async ({ submission: { subject } }: Part) =>
  ((await recordsOf(lab.admin, subject))['processing.001'] ?? []).find(({ status }) => status === 'VALID')
    ?.value;
const rolledBack = async () =>
  Number(/^accord_submissions_total\{verdict="rolledback".*\} (\d+)$/m.exec(await lab.metrics())?.[1] ?? 0);

describe('a withdrawal of a part', () => {
  it('refuses what the part accepted, in a transaction of its own with a receipt and events, and keeps preferences', async () => {
    const { part, said } = await send({ answers: { [letter]: ['accepted'], [often]: ['Every week'] } });
    expect(await withdraw(part)).toEqual({ verdict: 'withdrawn', id: said.id });
    expect(await answersOf(part)).toEqual([
      ['refused', 'COMMITTED'],
      ['accepted', 'COMMITTED'],
    ]);
    const [newest] = (await recordsOf(lab.admin, part.submission.subject))['processing.001'] ?? [];
    const id = newest?.transaction as string;
    expect((await (await lab.admin.get(`/consents/${id}`)).json()) as Transaction).toMatchObject({
      kind: 'WITHDRAWAL',
      parent: said.id,
      author: part.peer.name,
      context: { origin: 'PEER' },
    });
    expect(await (await lab.admin.get(`/receipts/${id}`)).json()).toMatchObject({
      kind: 'WITHDRAWAL',
      consents: [{ identifier: letter, answer: ['refused'] }],
    });
    const types = (await eventsOf(lab, { id })).map(({ event }) => event.type);
    expect(types).toContain('io.accord.consent.withdrawn.v1');
  });

  it('that is repeated, also at once on two replicas, gets the same answer and is stored once', async () => {
    const { part, said } = await send();
    const both = await Promise.all([withdraw(part), withdraw(part, lab.other)]);
    for (const answer of [...both, await withdraw(part)])
      expect(answer).toEqual({ verdict: 'withdrawn', id: said.id });
    expect(await answersOf(part)).toHaveLength(2);
  });

  it('leaves a later consent in force', async () => {
    const { part } = await send();
    await recordAnswers(lab.admin, part.submission.subject, { [letter]: ['accepted'] });
    expect(await withdraw(part)).toMatchObject({ verdict: 'withdrawn' });
    expect(await inForce(part)).toBe('accepted');
  });

  it('rolls a held part back, and a decision that comes later does not put it in force', async () => {
    const { part, said } = await send({ submission: { mode: 'hold' } });
    expect(said.verdict).toBe('held');
    expect(await withdraw(part)).toEqual({ verdict: 'withdrawn', id: said.id });
    const { peer, sid } = part;
    expect(await lab.one.decideSubmission({ peer, sid, decision: 'commit' })).toMatchObject({
      verdict: 'rolledback',
    });
    expect(await inForce(part)).toBeUndefined();
  });

  it('at the owner ends a held consent too, whatever its leader decides', async () => {
    const { part } = await send({ submission: { mode: 'hold' } });
    const { peer, sid, submission } = part;
    const gone = await lab.admin.send('POST', '/choices/withdraw', { subject: submission.subject });
    expect(gone.status).toBe(201);
    const again = await lab.admin.send('POST', '/choices/withdraw', { subject: submission.subject });
    expect(again.status).toBe(200);
    expect(await lab.one.decideSubmission({ peer, sid, decision: 'commit' })).toMatchObject({
      verdict: 'committed',
    });
    expect(await inForce(part)).toBe('refused');
  });

  it('of a held part, or an erasure of it, is counted as one rollback', async () => {
    const counted = await rolledBack();
    const { part } = await send({ submission: { mode: 'hold' } });
    const { peer, sid } = part;
    for (const _ of ['once', 'again'])
      expect(await lab.one.eraseSubmission({ peer, sid, follows: false })).toMatchObject({
        verdict: 'noted',
      });
    const { part: other } = await send({ submission: { mode: 'hold' } });
    for (const _ of ['once', 'again']) expect(await withdraw(other)).toMatchObject({ verdict: 'withdrawn' });
    expect(await rolledBack()).toBe(counted + 2);
  });

  it('at the same time as the decision to commit leaves nothing in force, whichever is first', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { part } = await send({ submission: { mode: 'hold' } });
      const { peer, sid } = part;
      const [withdrawn] = await Promise.all([
        withdraw(part, lab.other),
        lab.one.decideSubmission({ peer, sid, decision: 'commit' }),
      ]);
      expect(withdrawn).toMatchObject({ verdict: 'withdrawn' });
      expect(await inForce(part)).not.toBe('accepted');
    }
  });

  it('that arrives before the part causes the refusal of the part', async () => {
    const part = await makePart(lab);
    expect(await withdraw(part)).toEqual({ verdict: 'withdrawn' });
    expect(await lab.other.acceptSubmission(part)).toEqual({ verdict: 'refused', reason: 'decided' });
    expect(await withdraw(part)).toEqual({ verdict: 'withdrawn' });
    expect(await answersOf(part)).toEqual([]);
  });

  it('at the same time as its part leaves nothing in force', async () => {
    for (let round = 0; round < 5; round += 1) {
      const part = await makePart(lab);
      await Promise.all([lab.one.acceptSubmission(part), withdraw(part, lab.other)]);
      expect(await inForce(part)).not.toBe('accepted');
    }
  });

  it('by another peer under the same id does not concern the part', async () => {
    const { part } = await send();
    const other = newPeer();
    expect(await withdraw({ peer: other, sid: part.sid })).toEqual({ verdict: 'withdrawn' });
    expect(await inForce(part)).toBe('accepted');
  });

  it('is not acknowledged if it cannot be stored', async () => {
    const peer = newPeer();
    await runInDatabase(
      lab,
      `INSERT INTO transactions.received_parts (peer, sid, verdict, received_at, changed_at)
       SELECT $1, lpad(n::text, 22, 'x'), 'rolledback', now(), now() FROM generate_series(1, 4000) AS n`,
      [peer.url],
    );
    await expect(withdraw({ peer, sid: randomId() })).rejects.toMatchObject({ code: 'unavailable' });
  });

  it('that fails at its last statement leaves the consent in force, and succeeds when it is repeated', async () => {
    const { part } = await send();
    await runInDatabase(
      lab,
      `CREATE FUNCTION transactions.fail() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN RAISE EXCEPTION 'no more receipts'; END $$;
       CREATE TRIGGER fail BEFORE INSERT ON transactions.receipts
         FOR EACH STATEMENT EXECUTE FUNCTION transactions.fail()`,
    );
    await expect(withdraw(part)).rejects.toThrow();
    await runInDatabase(lab, 'DROP TRIGGER fail ON transactions.receipts');
    expect(await inForce(part)).toBe('accepted');
    const kinds = await rowsOf(lab, 'SELECT FROM transactions.transactions WHERE subject = $1', [
      part.submission.subject,
    ]);
    expect(kinds).toHaveLength(1);
    expect(await withdraw(part)).toMatchObject({ verdict: 'withdrawn' });
    expect(await inForce(part)).toBe('refused');
  });
});

describe('a part that arrives after its answers were withdrawn at the owner', () => {
  const secondsAgo = (seconds: number) => ({ iat: Date.now() / 1000 - seconds });
  /** A person who has consented by a part, and withdrawn at the owner. */
  async function withdrawn() {
    const { part } = await send();
    const { subject } = part.submission;
    const gone = await lab.admin.send('POST', '/choices/withdraw', { subject });
    expect(gone.status).toBe(201);
    // A withdrawal takes effect up to a millisecond after its request. What follows is later than that.
    const over = Date.now() + 5;
    await until(async () => expect(Date.now()).toBeGreaterThan(over));
    return { peer: part.peer, submission: { subject } };
  }

  it.each(['commit', 'hold'] as const)('counts as older than the withdrawal (%s)', async (mode) => {
    const { peer, submission } = await withdrawn();
    const { part, said } = await send({
      peer,
      submission: { ...submission, mode },
      header: secondsAgo(60),
    });
    const { sid } = part;
    if (mode === 'hold') await lab.one.decideSubmission({ peer, sid, decision: 'commit' });
    else expect(said.verdict).toBe('committed');
    expect(await inForce(part)).toBe('refused');
    expect(await (await lab.admin.get(`/receipts/${said.id}`)).json()).toMatchObject({
      consents: [{ identifier: letter, withdrawn: expect.any(String) }],
    });
    expect(await withdraw(part)).toMatchObject({ verdict: 'withdrawn' });
  });

  it('is in force if its answers were given after the withdrawal', async () => {
    const { peer, submission } = await withdrawn();
    const { part } = await send({ peer, submission, header: { iat: Date.now() / 1000 + 0.01 } });
    expect(await inForce(part)).toBe('accepted');
  });

  it('counts from its arrival if its leader does not say when the answers were given', async () => {
    const { peer, submission } = await withdrawn();
    const { part } = await send({ peer, submission });
    expect(await inForce(part)).toBe('accepted');
  });

  it.each([-1e308, -1, 0, 1e308, 'yesterday', true, null, {}])(
    'is stored, and counts as older or from its arrival, if its leader states %j',
    async (iat) => {
      const { peer, submission } = await withdrawn();
      const { part, said } = await send({ peer, submission, header: { iat: iat as never } });
      expect(said.verdict).toBe('committed');
      const isPast = typeof iat === 'number' && iat <= 0;
      expect(await inForce(part)).toBe(isPast ? 'refused' : 'accepted');
    },
  );

  it('waits for a withdrawal that is being stored when it arrives, and counts as older', async () => {
    const { part: first } = await send();
    const { subject } = first.submission;
    await runInDatabase(
      lab,
      `CREATE FUNCTION transactions.wait() RETURNS trigger LANGUAGE plpgsql AS
         $$ BEGIN PERFORM pg_advisory_xact_lock(4711); RETURN NULL; END $$;
       CREATE TRIGGER wait BEFORE INSERT ON transactions.receipts
         FOR EACH STATEMENT EXECUTE FUNCTION transactions.wait()`,
    );
    const gate = new pg.Client({ connectionString: lab.databaseUrl });
    await gate.connect();
    const waiting = (count: number) =>
      until(async () =>
        expect(
          await rowsOf(
            lab,
            `SELECT FROM pg_stat_activity
              WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0`,
          ),
        ).toHaveLength(count),
      );
    await gate.query('SELECT pg_advisory_lock(4711)');
    const withdrawal = lab.admin.send('POST', '/choices/withdraw', { subject });
    await waiting(1);
    const { peer } = first;
    const late = send({ peer, submission: { subject }, header: secondsAgo(60) });
    await waiting(2);
    await gate.end();
    expect((await withdrawal).status).toBe(201);
    expect((await late).said.verdict).toBe('committed');
    await runInDatabase(lab, 'DROP TRIGGER wait ON transactions.receipts');
    expect(await inForce(first)).toBe('refused');
  });

  it('is stored once if it arrives twice at the same time', async () => {
    const { peer, submission } = await withdrawn();
    const part = await makePart(lab, { peer, submission, header: secondsAgo(60) });
    const both = await Promise.all([lab.one.acceptSubmission(part), lab.other.acceptSubmission(part)]);
    expect(both[0]).toMatchObject({ verdict: 'committed' });
    expect(both[1]).toEqual(both[0]);
    expect(await answersOf(part)).toHaveLength(3);
  });
});
