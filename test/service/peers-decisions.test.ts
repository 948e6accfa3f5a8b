import { decodeJwt } from 'jose';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '#lib/db/sql.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import {
  type DeliveringInstance,
  samplePart,
  startDelivering,
} from '../support/instances/delivering-instance.ts';
import { type OwnOwner, takeParts } from '../support/peers/own-owner.ts';
import { type OwnPeer, startOwnPeer } from '../support/peers/peer-of-our-own.ts';
import { openGate } from '../support/run/gate.ts';
import { until } from '../support/run/until.ts';

let clinic: DeliveringInstance;
let lab: OwnPeer;
let owner: OwnOwner;
let sid: string;
beforeAll(async () => {
  clinic = await startDelivering();
});
afterAll(() => clinic?.stop());
beforeEach(async () => {
  sid = randomId();
  lab = await startOwnPeer();
  owner = takeParts(lab);
  await clinic.pairWith(lab);
});
afterEach(() => lab?.close());

const waiting = () =>
  clinic.db.query<{ kind: string; attempts: number }>(
    sql`SELECT d.kind, d.attempts FROM deliveries AS d WHERE d.peer_url = ${lab.url}`,
  );
const nothingWaits = () => until(async () => expect(await waiting()).toEqual([]));
const told = () => clinic.outcomes.filter(({ subject }) => subject === sid).map(({ data }) => data);
const decided = () =>
  clinic.transactions.decided.filter((each) => each.sid === sid).map(({ decision }) => decision);
const letWaitsPass = async () => {
  await clinic.db.query(sql`UPDATE deliveries SET not_before = accord_now() WHERE peer_url = ${lab.url}`);
  await clinic.db.query(sql`UPDATE queues SET next_at = now()`);
};
const kept = () =>
  clinic.db.query(
    sql`SELECT r.kind, r.verdict FROM acknowledgements AS r WHERE r.sid = ${sid} ORDER BY r.kind`,
  );

describe('a decision about parts that are held', () => {
  it.each(['commit', 'rollback'] as const)('to %s is sent to their owner', async (decision) => {
    const verdict = decision === 'commit' ? 'committed' : 'rolledback';
    owner.verdict = () => ({ verdict, id: 'theirs' });
    await clinic.tell('submission.decided', { submission: sid, peer: lab.url, decision });
    const reported = decision === 'commit' ? 'done' : 'refused';
    const answer = { submission: sid, peer: lab.url, about: 'decision', verdict: reported, id: 'theirs' };
    await until(() => expect(told()).toEqual([answer]));
    expect(owner.came).toMatchObject([
      {
        method: 'POST',
        path: `/federation/submissions/${sid}/decision`,
        body: JSON.stringify({ decision }),
      },
    ]);
    expect(await kept()).toEqual([{ kind: 'decide', verdict }]);
  });

  it('is sent again until the owner has acknowledged it', async () => {
    const gate = openGate();
    owner.instead = (response) =>
      owner.came.length === 1 ? response.writeHead(503).end() : gate.passed.then(() => false);
    await clinic.tell('submission.decided', { submission: sid, peer: lab.url, decision: 'commit' });
    await until(async () => expect((await waiting())[0]?.attempts).toBeGreaterThan(0));
    expect(told()).toEqual([]);
    gate.open();
    await letWaitsPass();
    await until(() => expect(told()).toMatchObject([{ about: 'decision', verdict: 'done' }]));
  });

  it('is not acknowledged while the owner still holds its part', async () => {
    const gate = openGate();
    owner.instead = () => (owner.came.length === 1 ? false : gate.passed.then(() => false));
    owner.verdict = () => ({ verdict: owner.came.length === 1 ? 'held' : 'committed' });
    await clinic.tell('submission.decided', { submission: sid, peer: lab.url, decision: 'commit' });
    await until(async () => expect((await waiting())[0]?.attempts).toBeGreaterThan(0));
    expect(told()).toEqual([]);
    gate.open();
    await letWaitsPass();
    await until(() => expect(told()).toMatchObject([{ about: 'decision', verdict: 'done' }]));
  });
});

describe('a decision that is late', () => {
  const attempts = async (outcome: string) => {
    const metric = new RegExp(
      `accord_delivery_attempts_total\\{kind="peer-ask",outcome="${outcome}"\\} (\\d+)`,
    );
    return Number(metric.exec(await clinic.metrics())?.[1] ?? 0);
  };
  /** Queues requests for decisions whose deadline is long over; the peer's quarantine lets none be sent. */
  const longUndecided = async (sids: readonly string[]) => {
    await clinic.db.query(sql`UPDATE peers SET state = 'QUARANTINED' WHERE url = ${lab.url}`);
    for (const submission of sids) await clinic.tell('submission.held', { submission, peer: lab.url });
    await until(async () => expect(await waiting()).toHaveLength(sids.length));
    for (const [place, each] of sids.entries())
      await clinic.db.query(
        sql`UPDATE deliveries SET deadline = accord_now() - interval '1 hour' + ${place} * interval '1 second'
             WHERE sid = ${each}`,
      );
  };
  const logged = (about: string) =>
    clinic
      .logs()
      .split('\n')
      .filter((line) => line.includes(about))
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const held = (ago = 0) =>
    clinic.tell('submission.held', { submission: sid, peer: lab.url }, new Date(Date.now() - ago));

  it('is requested after a minute and applied', async () => {
    owner.verdict = () => ({ decision: 'commit' });
    await held();
    const [row] = await clinic.db.query<{ wait: number }>(
      sql`SELECT extract(epoch FROM d.not_before - accord_now())::float8 AS wait FROM deliveries AS d WHERE d.sid = ${sid}`,
    );
    expect(row?.wait).toBeGreaterThan(20);
    expect(row?.wait).toBeLessThanOrEqual(60);
    await letWaitsPass();
    await nothingWaits();
    expect(owner.came).toMatchObject([{ method: 'GET', path: `/federation/decisions/${sid}`, body: '' }]);
    expect(decided()).toEqual(['commit']);
    expect(clinic.transactions.decided.at(-1)?.peer).toMatchObject({ url: lab.url, name: 'A partner' });
    expect(told()).toEqual([]);
    expect(await kept()).toEqual([{ kind: 'ask', verdict: 'commit' }]);
  });

  it('is requested again with back-off while it is open', async () => {
    owner.verdict = () => ({ decision: 'open' });
    const failed = await attempts('failed');
    const delivered = await attempts('delivered');
    await held(61_000);
    await until(async () => expect((await waiting())[0]?.attempts).toBe(1));
    await until(async () => expect(await attempts('delivered')).toBe(delivered + 1));
    expect(await attempts('failed')).toBe(failed);
    const [row] = await clinic.db.query<{ wait: number; failures: number }>(
      sql`SELECT extract(epoch FROM d.not_before - accord_now())::float8 AS wait, q.failures
            FROM deliveries AS d JOIN queues AS q USING (peer_url) WHERE d.sid = ${sid}`,
    );
    expect(row?.wait).toBeGreaterThan(20);
    expect(row?.wait).toBeLessThanOrEqual(120);
    expect(row?.failures).toBe(0);
    owner.verdict = () => ({ decision: 'rollback' });
    await letWaitsPass();
    await nothingWaits();
    expect(decided()).toEqual(['rollback']);
  });

  it('counts as a rollback if it is still open after the deadline', async () => {
    owner.verdict = () => ({ decision: 'open' });
    await held(25 * 3_600_000 + 1_000);
    await nothingWaits();
    expect(decided()).toEqual(['rollback']);
  });

  it('counts if it was made in time, even if the leader was unreachable until the deadline', async () => {
    owner.verdict = () => ({ decision: 'commit' });
    await held(25 * 3_600_000 + 1_000);
    await nothingWaits();
    expect(decided()).toEqual(['commit']);
  });

  it('counts as a rollback if the leader stays unreachable', async () => {
    owner.instead = (response) => response.writeHead(503).end();
    await held(25 * 3_600_000 + 1_000);
    const sweep = async () => {
      // Not while it is being asked for.
      await clinic.db.query(sql`UPDATE peers SET state = 'QUARANTINED' WHERE url = ${lab.url}`);
      await clinic.replicas[0]?.endOverdue();
    };
    await sweep();
    expect(decided()).toEqual([]);
    await clinic.db.query(
      sql`UPDATE deliveries SET deadline = deadline - interval '6 minutes' WHERE sid = ${sid}`,
    );
    await until(async () => {
      await sweep();
      expect(decided()).toEqual(['rollback']);
    });
    expect(await waiting()).toEqual([]);
  });

  it('is applied to all other parts if it cannot be applied to one', async () => {
    const sids = [sid, randomId()];
    await longUndecided(sids);
    const { decideSubmission } = clinic.transactions;
    clinic.transactions.decideSubmission = async (input) => {
      if (input.sid === sid) throw new Error('this part fails');
      return decideSubmission(input);
    };
    const sweep = () => clinic.replicas[0]?.endOverdue();
    await sweep();
    expect(clinic.transactions.decided.at(-1)).toMatchObject({ sid: sids[1], decision: 'rollback' });
    expect(logged(sid)).toMatchObject([
      { level: 'error', msg: 'failed to roll back a held part; retried in 5 minutes' },
    ]);
    clinic.transactions.decideSubmission = decideSubmission;
    await sweep();
    expect(decided()).toEqual([]);
    await clinic.db.query(sql`UPDATE deliveries SET deadline = accord_now() - interval '6 minutes'`);
    await sweep();
    expect(decided()).toEqual(['rollback']);
  });

  it('is not reported as a rollback if the part was committed before', async () => {
    await longUndecided([sid]);
    const { decideSubmission } = clinic.transactions;
    clinic.transactions.decideSubmission = async () => ({ verdict: 'committed', id: 'ours' });
    await clinic.replicas[0]?.endOverdue();
    clinic.transactions.decideSubmission = decideSubmission;
    expect(await waiting()).toEqual([]);
    expect(logged(sid)).toMatchObject([{ level: 'info', code: 'committed' }]);
  });

  it('is not requested after the leader has sent it', async () => {
    await held();
    expect(await waiting()).toMatchObject([{ kind: 'ask' }]);
    const reply = await lab.send(clinic.url, 'POST', `/federation/submissions/${sid}/decision`, {
      decision: 'rollback',
    });
    expect(reply.status).toBe(200);
    expect(await waiting()).toEqual([]);
  });

  it('is not read from an acknowledgement with a verdict', async () => {
    const gate = openGate();
    owner.instead = () => (owner.came.length === 1 ? false : gate.passed.then(() => false));
    owner.verdict = () => (owner.came.length === 1 ? { verdict: 'committed' } : { decision: 'commit' });
    await held(61_000);
    await until(async () => expect((await waiting())[0]?.attempts).toBeGreaterThan(0));
    expect(decided()).toEqual([]);
    gate.open();
    await letWaitsPass();
    await nothingWaits();
    expect(decided()).toEqual(['commit']);
  });
});

describe('a peer that sends a part', () => {
  const put = (content: object, changes = {}) =>
    lab.send(clinic.url, 'PUT', `/federation/submissions/${sid}`, content, changes);
  const part = (changes = {}) => samplePart(lab.url, clinic.url, changes).submission;
  const receiptOf = async (response: Response) =>
    decodeJwt(((await response.json()) as { receipt: string }).receipt);

  it('gets a signed acknowledgement for exactly that part', async () => {
    const response = await put(part());
    expect(response.status).toBe(200);
    const [accepted] = clinic.transactions.accepted.filter((each) => each.sid === sid);
    expect(accepted).toMatchObject({ peer: { url: lab.url, subjectPrefix: '' }, submission: part() });
    expect(await receiptOf(response)).toEqual({
      iss: clinic.url,
      aud: lab.url,
      sid,
      digest: accepted?.digest,
      iat: expect.any(Number),
      verdict: 'committed',
      id: 'ours',
    });
  });

  it.each<[string, number, (content: Record<string, unknown>) => object]>([
    [
      'in the name of another instance',
      403,
      (content) => ({ ...content, leader: { location: 'https://other.example', id: 'x' } }),
    ],
    ['in our own name', 403, (content) => ({ ...content, leader: { location: clinic.url, id: 'x' } })],
    ['without a leader', 400, ({ leader: _, ...content }) => content],
    ['without a subject', 400, (content) => ({ ...content, subject: '' })],
    ['of an endless subject', 400, (content) => ({ ...content, subject: 'x'.repeat(1_025) })],
    [
      'with an endless id',
      400,
      (content) => ({ ...content, leader: { location: lab.url, id: 'x'.repeat(65) } }),
    ],
    ['with an endless language', 400, (content) => ({ ...content, language: 'x'.repeat(36) })],
    ['in a mode that nobody knows', 400, (content) => ({ ...content, mode: 'perhaps' })],
    ['with answers that are too long', 400, (content) => ({ ...content, sealed: 'x'.repeat(2_097_153) })],
    ['that is endless', 413, (content) => ({ ...content, more: 'x'.repeat(2_200_000) })],
    ['that is a list', 400, () => []],
  ])('%s gets none, and nothing is taken', async (_name, status, change) => {
    expect((await put(change(part()))).status).toBe(status);
    expect(clinic.transactions.accepted.filter((each) => each.sid === sid)).toEqual([]);
  });

  it('in the name of another instance is counted and logged', async () => {
    const before = /reason="leader"\} (\d+)/.exec(await clinic.metrics())?.[1] ?? '0';
    await put(part({ leader: { location: 'https://other.example', id: 'x' } }));
    expect(await clinic.metrics()).toContain(
      `accord_peer_refused_total{reason="leader"} ${Number(before) + 1}`,
    );
    expect(clinic.logs()).toContain('in the name of another instance');
  });

  it('receives the verdict on its decision, and our decision about its part', async () => {
    const path = `/federation/submissions/${sid}/decision`;
    const committed = await lab.send(clinic.url, 'POST', path, { decision: 'commit' });
    expect(await receiptOf(committed)).toMatchObject({ sid, verdict: 'committed' });
    for (const decision of ['open', 'commit', 'rollback'] as const) {
      clinic.transactions.decision = decision;
      const asked = await lab.send(clinic.url, 'GET', `/federation/decisions/${sid}`);
      expect(await receiptOf(asked)).toMatchObject({ sid, decision, iss: clinic.url, aud: lab.url });
    }
  });

  it('is a 404 for an invalid sid', async () => {
    for (const wrong of ['x', '0'.repeat(22), `${sid}1`, encodeURIComponent('../../../etc')]) {
      const response = await lab.send(clinic.url, 'PUT', `/federation/submissions/${wrong}`, part());
      expect(response.status).toBe(404);
    }
  });
});
