import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { generatePrivateKey, readPrivateKey } from '#lib/config/secret-values.ts';
import { sql } from '#lib/db/sql.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { type DeliveringInstance, startDelivering } from '../support/instances/delivering-instance.ts';
import { type OwnOwner, takeParts } from '../support/peers/own-owner.ts';
import { type OwnPeer, startOwnPeer } from '../support/peers/peer-of-our-own.ts';
import { openGate } from '../support/run/gate.ts';
import { until } from '../support/run/until.ts';

let clinic: DeliveringInstance;
let lab: OwnPeer;
let owner: OwnOwner;
let labId: string;
beforeEach(async () => {
  [clinic, lab] = await Promise.all([startDelivering(2), startOwnPeer()]);
  owner = takeParts(lab);
  labId = await clinic.pairWith(lab);
});
afterEach(async () => {
  await lab?.close();
  await clinic?.stop();
});

const draw = () => readPrivateKey(generatePrivateKey());
const waiting = () =>
  clinic.db.query<{ sid: string; attempts: number; error: string | null }>(
    sql`SELECT d.sid, d.attempts, d.last_error AS error FROM deliveries AS d`,
  );
const nothingWaits = () => until(async () => expect(await waiting()).toEqual([]));
const isTold = (sid: string, verdict = 'done') =>
  until(() =>
    expect(clinic.outcomes.filter(({ subject }) => subject === sid)).toMatchObject([{ data: { verdict } }]),
  );
const letWaitsPass = async () => {
  await clinic.db.query(sql`UPDATE deliveries SET not_before = accord_now()`);
  await clinic.db.query(sql`UPDATE queues SET next_at = now()`);
};
const releaseMany = (count: number, to: { url: string } = lab) =>
  Promise.all(Array.from({ length: count }, () => clinic.release(to)));
const isAt = (count: number) => until(() => expect(owner.came.length).toBe(count));

describe('parts for a peer', () => {
  it('are sent once each, four at a time over all replicas', async () => {
    const gate = openGate();
    owner.instead = () => gate.passed.then(() => false);
    const sids = await releaseMany(40);
    await isAt(4);
    gate.open();
    await nothingWaits();
    expect(owner.most).toBe(4);
    expect(owner.came.map(({ sid }) => sid).sort()).toEqual(sids.sort());
  });

  it('of a long queue are read in batches, and wait after the first failure of the peer', async () => {
    const reads: number[] = [];
    const { readSubmissions } = clinic.transactions;
    clinic.transactions.readSubmissions = (input) => {
      reads.push(input.sids.length);
      return readSubmissions(input);
    };
    await clinic.db.query(sql`UPDATE peers SET state = 'QUARANTINED'`);
    const sids = await releaseMany(60);
    owner.instead = (response) => owner.came.length > 30 && response.writeHead(503).end();
    await clinic.db.query(sql`UPDATE peers SET state = 'PAIRED'`);
    await until(async () => {
      const left = await waiting();
      expect(left.some(({ attempts }) => attempts > 0)).toBe(true);
      expect(left.filter(({ attempts }) => attempts === 0).length).toBeGreaterThan(20);
    });
    expect(Math.max(...reads)).toBeGreaterThan(1);
    owner.instead = () => false;
    await letWaitsPass();
    await nothingWaits();
    await until(() => expect(clinic.outcomes.map(({ subject }) => subject).sort()).toEqual(sids.sort()));
    expect(owner.most).toBeLessThanOrEqual(4);
  });

  it('are sent one at a time after a failure, and four at a time after a success', async () => {
    const gate = openGate();
    owner.instead = () => gate.passed.then(() => false);
    await clinic.db.query(sql`UPDATE peers SET state = 'QUARANTINED'`);
    await releaseMany(12);
    await clinic.db.query(sql`UPDATE queues SET failures = 3`);
    await clinic.db.query(sql`UPDATE peers SET state = 'PAIRED'`);
    await until(() => expect(owner.busy.size).toBe(1));
    expect(owner.most).toBe(1);
    gate.open();
    await nothingWaits();
    expect(owner.most).toBeLessThanOrEqual(4);
    expect(await clinic.db.query(sql`SELECT failures FROM queues`)).toEqual([{ failures: 0 }]);
  });

  it('wait longer after each consecutive failure', async () => {
    owner.instead = (response) => response.writeHead(503).end();
    await clinic.release(lab);
    const queue = () =>
      clinic.db.one<{ failures: number; wait: number }>(
        sql`SELECT q.failures, extract(epoch FROM q.next_at - now())::float8 AS wait FROM queues AS q`,
      );
    for (const least of [1, 2, 3, 4]) {
      const { failures, wait } = await until(async () => {
        const found = await queue();
        expect(found.failures).toBeGreaterThanOrEqual(least);
        return found;
      });
      expect(wait).toBeLessThanOrEqual(0.5 * 2 ** failures);
      await letWaitsPass();
    }
  });

  it('are retried soon after an unavailable peer makes contact', async () => {
    await clinic.release(lab);
    await nothingWaits();
    await clinic.db.query(sql`UPDATE queues SET failures = 7, next_at = now() + interval '1 hour'`);
    const sid = await clinic.release(lab);
    expect((await lab.send(clinic.url, 'POST', '/federation/ping')).status).toBe(204);
    await isTold(sid);
    await nothingWaits();
    expect(owner.came).toHaveLength(2);
  });

  it('do not wait for a slow peer', async () => {
    const slow = await startOwnPeer();
    const gate = openGate();
    const slowOwner = takeParts(slow);
    slowOwner.instead = () => gate.passed.then(() => false);
    await clinic.pairWith(slow);
    await releaseMany(20, slow);
    await until(() => expect(slowOwner.busy.size).toBe(4));
    for (const sid of await releaseMany(5)) await isTold(sid);
    expect(slowOwner.came).toHaveLength(4);
    expect(await waiting()).toHaveLength(20);
    gate.open();
    await slow.close();
  });

  it('are sent before a part that has failed', async () => {
    owner.instead = (response, { body }) => body.includes('"poor"') && response.writeHead(500).end();
    const poor = await clinic.release(lab, { subject: 'poor' });
    const others = await releaseMany(5);
    await letWaitsPass();
    for (const sid of others) await isTold(sid);
    await until(async () => expect((await waiting()).every(({ sid }) => sid === poor)).toBe(true));
  });

  it('are sent by another process when the lease of a killed one has expired', async () => {
    await clinic.db.query(sql`UPDATE peers SET state = 'QUARANTINED'`);
    const sid = await clinic.release(lab);
    const leaseOf = (until: string) =>
      clinic.db.query(sql`
      UPDATE queues SET lease_owner = gen_random_uuid(), lease_until = now() + ${until}::interval`);
    await leaseOf('1 hour');
    await clinic.db.query(sql`UPDATE peers SET state = 'PAIRED'`);
    await leaseOf('0 seconds');
    await isTold(sid);
    expect(owner.came).toHaveLength(1);
  });

  it('are released by a process that stops; an acknowledgement that arrives in time is still recorded', async () => {
    const gate = openGate();
    owner.instead = () => gate.passed.then(() => false);
    const sid = await clinic.release(lab);
    await isAt(1);
    const stopped = Promise.all(clinic.replicas.map(({ stop }) => stop()));
    gate.open();
    await stopped;
    expect(await waiting()).toEqual([]);
    await isTold(sid);
  });
});

describe('a peer', () => {
  it('in quarantine gets no deliveries until its keys are confirmed', async () => {
    await clinic.db.query(sql`UPDATE peers SET state = 'QUARANTINED' WHERE id = ${labId}`);
    const sid = await clinic.release(lab);
    const other = await startOwnPeer();
    takeParts(other);
    await clinic.pairWith(other);
    // Whatever is sent is sent before this.
    await isTold(await clinic.release(other));
    expect(owner.came).toEqual([]);
    expect(await waiting()).toMatchObject([{ sid, attempts: 0 }]);
    await clinic.db.query(sql`UPDATE peers SET state = 'PAIRED' WHERE id = ${labId}`);
    await isTold(sid);
    await other.close();
  });

  it('that has ended the pairing gets no deliveries; waiting ones expire at the deadline', async () => {
    expect((await lab.send(clinic.url, 'DELETE', '/federation/pairing')).status).toBe(204);
    const submission = randomId();
    const deadline = new Date(Date.now() + 86_400_000).toISOString();
    await clinic.tell('submission.released', { submission, peer: lab.url, deadline });
    await until(async () => expect(await waiting()).toHaveLength(1));
    const stored = await clinic.db.one<{ deadline: Date }>(sql`SELECT deadline FROM deliveries`);
    expect(stored.deadline.toISOString()).toBe(deadline);
    await clinic.db.query(sql`UPDATE deliveries SET deadline = accord_now()`);
    await clinic.replicas[0]?.endOverdue();
    await isTold(submission, 'expired');
    // No attempt was made, so none has a duration.
    const metrics = await clinic.metrics();
    expect(metrics).toContain('accord_delivery_attempts_total{kind="peer-submit",outcome="given-up"} 1');
    expect(metrics).not.toContain('accord_delivery_duration_seconds_count{kind="peer-submit"}');
    expect(owner.came).toEqual([]);
    expect(await waiting()).toEqual([]);
  });

  it('that pairs again with the same keys gets the waiting deliveries', async () => {
    await clinic.db.query(sql`UPDATE peers SET state = 'QUARANTINED'`);
    const sid = await clinic.release(lab);
    await clinic.db.query(sql`DELETE FROM peers`);
    await clinic.pairWith(lab);
    await isTold(sid);
  });

  it('that pairs again with keys that its former key vouches for gets the waiting deliveries when it has only the new keys', async () => {
    for (const hasEnded of [false, true]) {
      await clinic.db.query(sql`UPDATE peers SET state = 'QUARANTINED'`);
      const sid = await clinic.release(lab);
      await until(async () => expect(await waiting()).toMatchObject([{ sid }]));
      await clinic.db.query(sql`UPDATE deliveries SET not_before = accord_now() + interval '1 hour'`);
      if (hasEnded) await clinic.db.query(sql`DELETE FROM peers`);
      const drawn = draw();
      lab.keys = [drawn, ...lab.keys];
      await clinic.pairWith(lab);
      lab.keys = [drawn];
      await clinic.db.query(sql`UPDATE peers SET described_at = accord_now() - interval '61 seconds'`);
      const unknown = await lab.send(clinic.url, 'POST', '/federation/ping', undefined, { key: draw() });
      expect(unknown.status).toBe(401);
      await letWaitsPass();
      await isTold(sid);
    }
  });

  it('that pairs again gets the deliveries that were queued after the end of the pairing', async () => {
    expect((await lab.send(clinic.url, 'DELETE', '/federation/pairing')).status).toBe(204);
    const sid = await clinic.release(lab);
    await until(async () => expect(await waiting()).toHaveLength(1));
    await clinic.pairWith(lab);
    await isTold(sid);
  });

  it('causes the verdict `expired` if a decision cannot be delivered to it before the deadline', async () => {
    await clinic.db.query(sql`UPDATE peers SET state = 'QUARANTINED'`);
    const submission = randomId();
    await clinic.tell('submission.decided', { submission, peer: lab.url, decision: 'commit' });
    await until(async () => expect(await waiting()).toHaveLength(1));
    await clinic.db.query(sql`UPDATE deliveries SET deadline = accord_now()`);
    await clinic.replicas[0]?.endOverdue();
    await isTold(submission, 'expired');
    expect(await waiting()).toEqual([]);
  });

  it('is sent a part later if this instance fails; one line of the log reports the failure', async () => {
    const { readSubmissions } = clinic.transactions;
    clinic.transactions.readSubmissions = async () => {
      throw new Error('transactions is not available');
    };
    const sid = await clinic.release(lab);
    await until(async () => expect((await waiting())[0]?.attempts).toBeGreaterThan(0));
    await clinic.db.query(sql`UPDATE peers SET state = 'QUARANTINED'`);
    await until(async () => {
      const lines = clinic.logs().split('\n');
      const reports = lines.filter((line) => line.includes('failed on our side; retried'));
      expect(reports).toHaveLength((await waiting())[0]?.attempts ?? 0);
    });
    clinic.transactions.readSubmissions = readSubmissions;
    await clinic.db.query(sql`UPDATE peers SET state = 'PAIRED'`);
    await letWaitsPass();
    await isTold(sid);
  });

  it('that refuses a part is counted as given up, not as delivered', async () => {
    owner.verdict = () => ({ verdict: 'refused', reason: 'stale' });
    await isTold(await clinic.release(lab), 'refused');
    expect(await clinic.metrics()).toContain(
      'accord_delivery_attempts_total{kind="peer-submit",outcome="given-up"} 1',
    );
  });

  it('keeps its failures when a delivery has nothing left to send', async () => {
    await clinic.db.query(sql`UPDATE peers SET state = 'QUARANTINED'`);
    const sid = await clinic.release(lab);
    await until(async () => expect(await waiting()).toHaveLength(1));
    await clinic.db.query(sql`UPDATE queues SET failures = 3`);
    clinic.transactions.parts.delete(sid);
    await clinic.db.query(sql`UPDATE peers SET state = 'PAIRED'`);
    await nothingWaits();
    expect(await clinic.db.query(sql`SELECT failures FROM queues`)).toEqual([{ failures: 3 }]);
    expect(await clinic.metrics()).not.toContain('accord_delivery_attempts_total{');
  });

  it('at the same address with other keys does not get the waiting deliveries', async () => {
    await clinic.db.query(sql`UPDATE peers SET state = 'QUARANTINED'`);
    const old = await clinic.release(lab);
    await clinic.db.query(sql`DELETE FROM peers`);
    lab.keys = [draw()];
    await clinic.pairWith(lab);
    const next = await clinic.release(lab);
    await isTold(next);
    expect(owner.came.map(({ sid }) => sid)).toEqual([next]);
    expect(await waiting()).toMatchObject([{ sid: old, attempts: 0 }]);
  });

  it('that rotates its keys meanwhile still gets the waiting deliveries', async () => {
    const gate = openGate();
    owner.instead = () => gate.passed.then(() => false);
    const sids = await releaseMany(8);
    await isAt(4);
    await clinic.db.query(sql`UPDATE peers SET described_at = accord_now() - interval '61 seconds'`);
    lab.keys = [draw(), ...lab.keys];
    gate.open();
    for (const sid of sids) await isTold(sid);
    const kids = await clinic.db.query<{ kid: string }>(
      sql`SELECT k.kid FROM peer_keys AS k WHERE k.use = 'sig' ORDER BY k.position`,
    );
    expect(kids.map(({ kid }) => kid)).toEqual(lab.keys.map(({ kid }) => kid));
  });

  it('with unvouched new keys is quarantined, and its signatures with them are rejected', async () => {
    await clinic.db.query(sql`UPDATE peers SET described_at = accord_now() - interval '61 seconds'`);
    lab.keys = [draw()];
    const sid = await clinic.release(lab);
    await until(async () => {
      const [row] = await waiting();
      expect(row?.error).toContain('(unknown-key)');
    });
    expect(await clinic.db.one(sql`SELECT p.state FROM peers AS p`)).toEqual({ state: 'QUARANTINED' });
    await letWaitsPass();
    expect(clinic.outcomes.filter(({ subject }) => subject === sid)).toEqual([]);
  });

  it('with a wrong clock is logged and measured, until it is no longer a peer', async () => {
    const before = lab.answer;
    lab.answer = (request, response) => {
      response.setHeader('Date', new Date(Date.now() + 600_000).toUTCString());
      return before(request, response);
    };
    await isTold(await clinic.release(lab));
    await until(async () => expect(clinic.logs()).toContain('the clock of a peer differs from ours'));
    const skew = async () =>
      new RegExp(`^accord_peer_clock_skew_seconds\\{.*peer="${labId}"\\} (\\S+)`, 'm').exec(
        await clinic.metrics(),
      )?.[1];
    expect(Number(await skew())).toBeGreaterThan(590);
    expect(Number(await skew())).toBeLessThan(610);
    await clinic.db.query(sql`UPDATE peers SET state = 'ENDED'`);
    expect(await skew()).toBeUndefined();
  });

  it('with a wrong clock in its own messages is logged', async () => {
    const sent = await lab.send(clinic.url, 'POST', '/federation/ping', undefined, {
      now: new Date(Date.now() - 600_000),
    });
    expect(sent.status).toBe(401);
    await until(() => expect(clinic.logs()).toContain('the clock of a peer differs from ours'));
    const metrics = await clinic.metrics();
    expect(metrics).toContain('accord_peer_refused_total{reason="clock"} 1');
    // The alert does not see the first increment of a new series.
    expect(metrics).toContain('accord_peer_refused_total{reason="leader"} 0');
  });
});
