import { createHash } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { sql } from '#lib/db/sql.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import type { Peer } from '../../services/peers/domain/peer.ts';
import { bindDeliveries } from '../../services/peers/queries/deliveries.ts';
import { pinKeys } from '../../services/peers/queries/peer-keys.ts';
import { listPeers } from '../../services/peers/queries/peers.ts';
import { type DeliveringInstance, startDelivering } from '../support/instances/delivering-instance.ts';
import { type Came, type OwnOwner, sendReceipt, signReceipt, takeParts } from '../support/peers/own-owner.ts';
import { type OwnPeer, startOwnPeer } from '../support/peers/peer-of-our-own.ts';
import { openGate } from '../support/run/gate.ts';
import { until } from '../support/run/until.ts';

let clinic: DeliveringInstance;
let lab: OwnPeer;
let owner: OwnOwner;
beforeAll(async () => {
  clinic = await startDelivering();
});
afterAll(() => clinic?.stop());
beforeEach(async () => {
  lab = await startOwnPeer();
  owner = takeParts(lab);
  await clinic.pairWith(lab);
});
afterEach(async () => {
  await lab?.close();
});

interface Waiting {
  sid: string;
  attempts: number;
  error: string | null;
}
const waiting = () =>
  clinic.db.query<Waiting>(
    sql`SELECT d.sid, d.attempts, d.last_error AS error FROM deliveries AS d WHERE d.peer_url = ${lab.url}`,
  );
const nothingWaits = () => until(async () => expect(await waiting()).toEqual([]));
const told = (sid: string) => clinic.outcomes.filter(({ subject }) => subject === sid);
const outcomeOf = (sid: string) =>
  until(() => {
    expect(told(sid)).toHaveLength(1);
    return told(sid)[0]?.data;
  });
/** Waits until the delivery has failed. */
const failed = () =>
  until(async () => {
    const [row] = await waiting();
    expect(row?.attempts).toBeGreaterThanOrEqual(1);
    return row as Waiting;
  });
/** Answers the first request like this; the next wait until the test has seen what came of it. */
const first = (answer: OwnOwner['instead']) => {
  const gate = openGate();
  const before = owner.came.length;
  owner.instead = (response, came) =>
    owner.came.indexOf(came) === before ? answer(response, came) : gate.passed.then(() => false);
  return gate;
};
/** As if the waits after failures were over. */
const letWaitsPass = async () => {
  await clinic.db.query(sql`UPDATE deliveries SET not_before = accord_now()`);
  await clinic.db.query(sql`UPDATE queues SET next_at = now()`);
};

describe('a part of the answers that is released', () => {
  it('while new keys of its owner are being confirmed is bound to the new keys', async () => {
    const peers = await listPeers(clinic.db, { after: undefined, limit: 200 });
    const peer = peers.find(({ url }) => url === lab.url) as Peer;
    const [bound, gate] = [openGate(), openGate()];
    onTestFinished(gate.open);
    const key = { kid: randomId(), use: 'sig', jwk: {} } as const;
    const confirming = clinic.db.withTransaction(async (tx) => {
      await pinKeys(tx, peer.id, [key]);
      await bindDeliveries(tx, peer.url, { from: peer.thumbprints, to: [key.kid] });
      bound.open();
      await gate.passed;
    });
    await bound.passed;
    const releasing = clinic.release(lab);
    await until(async () => {
      const waits = await clinic.db.query(
        sql`SELECT FROM pg_locks WHERE locktype = 'advisory' AND NOT granted AND mode = 'ShareLock'`,
      );
      expect(waits).not.toEqual([]);
    });
    gate.open();
    await confirming;
    const sid = await releasing;
    const pinned = () => clinic.db.query(sql`SELECT d.pinned FROM deliveries AS d WHERE d.sid = ${sid}`);
    await until(async () => expect(await pinned()).toEqual([{ pinned: [key.kid] }]));
  });

  it('is sent to its owner, and the signed acknowledgement is stored and reported', async () => {
    const sid = await clinic.release(lab);
    expect(await outcomeOf(sid)).toEqual({
      submission: sid,
      peer: lab.url,
      about: 'part',
      verdict: 'done',
      id: 'theirs',
    });
    expect(owner.came).toMatchObject([{ method: 'PUT', path: `/federation/submissions/${sid}` }]);
    expect(JSON.parse(owner.came[0]?.body as string)).toEqual(clinic.transactions.parts.get(sid)?.submission);
    await nothingWaits();
    const [kept] = await clinic.db.query<{ receipt: string }>(
      sql`SELECT r.kind, r.peer_url, r.verdict, r.receipt FROM acknowledgements AS r WHERE r.sid = ${sid}`,
    );
    expect(kept).toMatchObject({ kind: 'submit', peer_url: lab.url, verdict: 'committed' });
    expect(
      JSON.parse(Buffer.from(kept?.receipt.split('.')[1] as string, 'base64url').toString()),
    ).toMatchObject({ iss: lab.url, aud: clinic.url, sid, digest: owner.came[0]?.digest });
  });

  it('is sent once even if the event arrives several times', async () => {
    const sid = await clinic.release(lab);
    await outcomeOf(sid);
    clinic.transactions.parts.delete(sid);
    await clinic.tell('submission.released', { submission: sid, peer: lab.url });
    await nothingWaits();
    expect(owner.came).toHaveLength(1);
    expect(told(sid)).toHaveLength(1);
  });

  it('is not sent if nothing is left to send', async () => {
    const sid = randomId();
    await clinic.tell('submission.released', { submission: sid, peer: lab.url });
    await nothingWaits();
    expect(owner.came).toEqual([]);
    expect(told(sid)).toEqual([]);
  });

  it('has the same bytes for any order of members', async () => {
    const gate = first((response) => response.writeHead(503).end());
    const sid = await clinic.release(lab);
    await failed();
    const part = clinic.transactions.parts.get(sid);
    const turned = Object.fromEntries(Object.entries(part?.submission as object).reverse());
    clinic.transactions.parts.set(sid, { ...part, submission: turned } as never);
    gate.open();
    await letWaitsPass();
    await outcomeOf(sid);
    expect(new Set(owner.came.map(({ body }) => body)).size).toBe(1);
  });

  it('is refused permanently only by its owner’s signature', async () => {
    owner.verdict = () => ({ verdict: 'refused', reason: 'stale' });
    const sid = await clinic.release(lab);
    expect(await outcomeOf(sid)).toEqual({
      submission: sid,
      peer: lab.url,
      about: 'part',
      verdict: 'refused',
      reason: 'stale',
    });
  });

  it('whose reply was lost gets the same verdict when it is sent again', async () => {
    // The owner remembers what it said by sid, as every owner must.
    const said = new Map<string, object>();
    owner.verdict = ({ sid }) => {
      const verdict = said.get(sid) ?? { verdict: 'committed', id: `theirs-${said.size}` };
      said.set(sid, verdict);
      return verdict;
    };
    const gate = first((response, came) => {
      owner.verdict(came);
      response.destroy();
    });
    const sid = await clinic.release(lab);
    await failed();
    gate.open();
    await letWaitsPass();
    expect(await outcomeOf(sid)).toMatchObject({ verdict: 'done', id: 'theirs-0' });
    expect(new Set(owner.came.map((came) => `${came.sid} ${came.digest}`)).size).toBe(1);
  });

  it('that fails is shown with its peer: why and how often it failed, and when it is sent again; until a part is accepted', async () => {
    owner.instead = (response) => response.writeHead(503).end();
    const sid = await clinic.release(lab);
    const shown = async () => (await listPeers(clinic.db, { after: undefined, limit: 1 }))[0];
    await until(async () =>
      expect(await shown()).toMatchObject({
        failures: expect.toSatisfy((count: number) => count > 0),
        lastError: expect.any(String),
        nextAttemptAt: expect.any(Date),
      }),
    );
    owner.instead = () => false;
    await letWaitsPass();
    await outcomeOf(sid);
    expect(await shown()).toMatchObject({ failures: 0, lastError: null, nextAttemptAt: null });
  });

  it('is counted in the backlog of its peer until it is accepted', async () => {
    const gate = openGate();
    owner.instead = () => gate.passed.then(() => false);
    const sid = await clinic.release(lab);
    await until(() => expect(owner.came).toHaveLength(1));
    const { id } = await clinic.db.one<{ id: string }>(
      sql`SELECT p.id FROM peers AS p WHERE p.url = ${lab.url}`,
    );
    const backlog = async () =>
      (await clinic.metrics()).split(`accord_peer_backlog{service="peers",peer="${id}"} `)[1]?.[0];
    expect(await backlog()).toBe('1');
    gate.open();
    await outcomeOf(sid);
    expect(await backlog()).toBe('0');
  });
});

describe('a delivery is retried after any answer but a verdict:', () => {
  const json = { 'Content-Type': 'application/json' };
  it.each<[string, OwnOwner['instead']]>([
    ...[400, 401, 403, 404, 409, 413, 422, 429, 500, 503].map((status): [string, OwnOwner['instead']] => [
      `a ${status}`,
      (response) => response.writeHead(status, json).end('{"verdict":"refused"}'),
    ]),
    ['a redirect', (response) => response.writeHead(307, { Location: lab.url }).end()],
    ['a connection that breaks off', (response) => response.destroy()],
    ['no body', (response) => response.writeHead(200, json).end()],
    ['no JSON', (response) => response.writeHead(200, json).end('committed')],
    [
      'a verdict that nobody has signed',
      (response) => response.writeHead(200, json).end('{"verdict":"refused","reason":"seal"}'),
    ],
    ['a receipt that is none', (response) => sendReceipt(response, 'a.b.c')],
    ['a receipt that is a number', (response) => sendReceipt(response, 7)],
    [
      'an answer without end',
      (response) => response.writeHead(200, json).end(Buffer.alloc(2 ** 21 + 1, ' ')),
    ],
  ])('%s', async (_name, instead) => {
    const gate = first(instead);
    const sid = await clinic.release(lab);
    await failed();
    expect(told(sid)).toEqual([]);
    gate.open();
    await letWaitsPass();
    expect(await outcomeOf(sid)).toMatchObject({ verdict: 'done' });
  });

  it('until its deadline', async () => {
    owner.instead = (response) => response.writeHead(503).end();
    const sid = await clinic.release(lab);
    await clinic.db.query(sql`UPDATE deliveries SET deadline = accord_now()`);
    await until(async () => {
      await clinic.replicas[0]?.endOverdue();
      expect(told(sid)).toHaveLength(1);
    });
    expect(told(sid)[0]?.data).toEqual({ submission: sid, peer: lab.url, about: 'part', verdict: 'expired' });
    expect(await waiting()).toEqual([]);
    expect(clinic.logs()).toContain('delivery to peer expired');
  });
});

describe('an acknowledgement', () => {
  const forged: [string, string, (came: Came) => Promise<string>][] = [
    [
      'for another part',
      'submission',
      (came) => signReceipt(lab, came, { verdict: 'committed', sid: '1'.repeat(22) }),
    ],
    [
      'for another body',
      'digest',
      (came) => signReceipt(lab, came, { verdict: 'committed', digest: digest('{}') }),
    ],
    [
      'for another instance',
      'audience',
      (came) => signReceipt(lab, came, { verdict: 'committed', aud: 'https://other.example' }),
    ],
    [
      'for two instances',
      'audience',
      (came) => signReceipt(lab, came, { verdict: 'committed', aud: [came.from, lab.url] }),
    ],
    [
      'of another instance',
      'issuer',
      (came) => signReceipt(lab, came, { verdict: 'committed', iss: 'https://other.example' }),
    ],
    ['of our own', 'issuer', (came) => signReceipt(lab, came, { verdict: 'committed', iss: came.from })],
    [
      'from before',
      'clock',
      (came) => signReceipt(lab, came, { verdict: 'committed', iat: Math.floor(Date.now() / 1000) - 120 }),
    ],
    [
      'from the future',
      'clock',
      (came) => signReceipt(lab, came, { verdict: 'committed', iat: Math.floor(Date.now() / 1000) + 120 }),
    ],
    ['without a time', 'claims', (came) => signReceipt(lab, came, { verdict: 'committed', iat: undefined })],
    ['without a verdict', 'claims', (came) => signReceipt(lab, came, {})],
    ['with a verdict that nobody knows', 'claims', (came) => signReceipt(lab, came, { verdict: 'perhaps' })],
    ['of a refusal without a reason', 'claims', (came) => signReceipt(lab, came, { verdict: 'refused' })],
    [
      'with a reason that is a text',
      'claims',
      (came) => signReceipt(lab, came, { verdict: 'refused', reason: 'Because of Ann.' }),
    ],
    [
      'with an endless id',
      'claims',
      (came) => signReceipt(lab, came, { verdict: 'committed', id: 'x'.repeat(65) }),
    ],
    [
      'with a verdict and a decision',
      'claims',
      (came) => signReceipt(lab, came, { verdict: 'committed', decision: 'commit' }),
    ],
    [
      'that is too long',
      'size',
      (came) => signReceipt(lab, came, { verdict: 'committed', more: 'x'.repeat(9_000) }),
    ],
    ['that is no JSON', 'claims', (came) => signReceipt(lab, came, {}, { payload: 'nope' })],
    [
      'of another kind',
      'algorithm',
      (came) => signReceipt(lab, came, { verdict: 'committed' }, { header: { typ: 'accord-peer+jwt' } }),
    ],
    [
      'with an extension',
      'algorithm',
      (came) => signReceipt(lab, came, { verdict: 'committed' }, { header: { crit: ['b64'], b64: true } }),
    ],
    [
      'under a kid of the prototype',
      'unknown-key',
      (came) => signReceipt(lab, came, { verdict: 'committed' }, { header: { kid: '__proto__' } }),
    ],
    [
      'with the sealing key',
      'unknown-key',
      (came) => signReceipt(lab, came, { verdict: 'committed' }, { key: lab.sealing }),
    ],
    [
      'whose content was changed',
      'signature',
      async (came) => {
        const [header, , signature] = (await signReceipt(lab, came, { verdict: 'committed' })).split('.');
        const [, claims] = (await signReceipt(lab, came, { verdict: 'refused', reason: 'seal' })).split('.');
        return [header, claims, signature].join('.');
      },
    ],
    [
      'with no algorithm',
      'algorithm',
      async (came) => {
        const [, claims] = (await signReceipt(lab, came, { verdict: 'committed' })).split('.');
        const header = { alg: 'none', typ: 'accord-receipt+jwt', kid: lab.keys[0]?.kid };
        return `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${claims}.`;
      },
    ],
  ];
  const digest = (body: string) => createHash('sha256').update(body).digest('base64url');

  it.each(forged)('%s is rejected', async (_name, fault, forge) => {
    const gate = first(async (response, came) => sendReceipt(response, await forge(came)));
    const sid = await clinic.release(lab);
    expect((await failed()).error).toContain(`(${fault})`);
    expect(told(sid)).toEqual([]);
    gate.open();
    await letWaitsPass();
    expect(await outcomeOf(sid)).toMatchObject({ verdict: 'done' });
  });

  it('of another peer is rejected, although its keys are pinned', async () => {
    const other = await startOwnPeer();
    await clinic.pairWith(other);
    for (const changes of [{}, { iss: other.url }]) {
      const gate = first(async (response, came) => {
        const content = { verdict: 'committed', iss: lab.url, ...changes };
        sendReceipt(response, await signReceipt(other, came, content));
      });
      await clinic.release(lab);
      expect((await failed()).error).toContain('(unknown-key)');
      gate.open();
      await letWaitsPass();
      await nothingWaits();
    }
    await other.close();
  });

  it('for a part that was sent before is rejected', async () => {
    await outcomeOf(await clinic.release(lab));
    const old = await signReceipt(lab, owner.came[0] as Came, { verdict: 'committed' });
    const gate = first((response) => sendReceipt(response, old));
    const second = await clinic.release(lab);
    expect((await failed()).error).toContain('(submission)');
    gate.open();
    await letWaitsPass();
    await outcomeOf(second);
  });

  it('with a decision is not accepted as the verdict on a part', async () => {
    const gate = first(async (response, came) =>
      sendReceipt(response, await signReceipt(lab, came, { decision: 'commit' })),
    );
    const sid = await clinic.release(lab);
    expect((await failed()).error).toContain('no verdict that answers this request');
    gate.open();
    await letWaitsPass();
    await outcomeOf(sid);
  });
});
