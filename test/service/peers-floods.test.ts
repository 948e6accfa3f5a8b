import { request as open } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createOverloadGuard } from '#lib/http/admission.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { signPeerRequest } from '../../services/peers/domain/peer-token.ts';
import {
  type DeliveringInstance,
  samplePart,
  startDelivering,
} from '../support/instances/delivering-instance.ts';
import { type OwnPeer, startOwnPeer } from '../support/peers/peer-of-our-own.ts';
import { openGate } from '../support/run/gate.ts';
import { until } from '../support/run/until.ts';

let lab: DeliveringInstance;
let clinic: OwnPeer;
let other: OwnPeer;
beforeAll(async () => {
  lab = await startDelivering();
});
afterAll(() => lab?.stop());
beforeEach(async () => {
  [clinic, other] = await Promise.all([startOwnPeer(), startOwnPeer()]);
  for (const peer of [clinic, other]) await lab.pairWith(peer);
});
afterEach(async () => {
  for (const peer of [clinic, other]) await peer?.close();
});

/** How many requests of one peer are worked on at once. */
const lanes = 12;
const hand = (peer: OwnPeer) =>
  peer.send(
    lab.url,
    'PUT',
    `/federation/submissions/${randomId()}`,
    samplePart(peer.url, lab.url).submission,
  );
const ping = async (peer: OwnPeer) => (await peer.send(lab.url, 'POST', '/federation/ping')).status;

describe('a peer that floods an instance', () => {
  it('gets 429 while other peers are served as usual', async () => {
    const gate = openGate();
    let held = 0;
    const { acceptSubmission } = lab.transactions;
    lab.transactions.acceptSubmission = async (input) => {
      held += 1;
      await gate.passed;
      return acceptSubmission(input);
    };
    const turnedAway: Response[] = [];
    const sent = Array.from({ length: 40 }, async () => {
      const response = await hand(clinic);
      if (response.status !== 200) turnedAway.push(response);
      return response.status;
    });
    await until(() => expect(turnedAway).toHaveLength(40 - lanes));
    expect(held).toBe(lanes);
    expect(turnedAway.map(({ status }) => status)).toEqual(Array(40 - lanes).fill(429));
    expect(turnedAway[0]?.headers.get('retry-after')).toBe('1');
    expect(await ping(other)).toBe(204);
    gate.open();
    expect((await Promise.all(sent)).filter((status) => status === 200)).toHaveLength(lanes);
    lab.transactions.acceptSubmission = acceptSubmission;
    // A second later it is heard again.
    await until(async () => expect([await ping(clinic), (await hand(clinic)).status]).toEqual([204, 200]));
  });

  it('with unfinished requests uses no more than its slots', async () => {
    const slow: Awaited<ReturnType<typeof begin>>[] = [];
    await until(async () => {
      slow.push(await begin(clinic));
      expect(await ping(clinic)).toBe(429);
    });
    expect(await ping(other)).toBe(204);
    for (const request of slow) request.destroy();
    await until(async () => expect(await ping(clinic)).toBe(204));
  });
});

describe('several peers that do not finish sending', () => {
  let guarded: DeliveringInstance;
  let slow: OwnPeer[];
  let good: OwnPeer;
  beforeAll(async () => {
    // Room for 16 requests of peers.
    const limits = { inFlight: 64, delayMs: 0, waitMs: 0 };
    guarded = await startDelivering(1, createOverloadGuard({ limits, readDelay: () => 0 }));
    [good, ...slow] = (await Promise.all(Array.from({ length: 4 }, startOwnPeer))) as [OwnPeer, ...OwnPeer[]];
    for (const peer of [good, ...slow]) await guarded.pairWith(peer);
  });
  afterAll(async () => {
    for (const peer of [good, ...slow]) await peer?.close();
    await guarded?.stop();
  });

  it('do not block other peers', async () => {
    const requests: Awaited<ReturnType<typeof begin>>[] = [];
    // Each of them takes all that one peer may have. A request that waits too long for its body is ended.
    for (const peer of slow)
      await until(async () => {
        requests.push(await begin(peer, guarded.url));
        expect((await peer.send(guarded.url, 'POST', '/federation/ping')).status).toBe(429);
      });
    for (let n = 0; n < 20; n += 1)
      expect((await good.send(guarded.url, 'POST', '/federation/ping')).status).toBe(204);
    for (const request of requests) request.destroy();
  });
});

/** Sends all of a part but its body. */
async function begin(peer: OwnPeer, to = lab.url) {
  const path = `/federation/submissions/${randomId()}`;
  const body = Buffer.from(JSON.stringify(samplePart(peer.url, to).submission));
  const token = await signPeerRequest(
    { method: 'PUT', url: `${to}${path}`, body },
    {
      issuer: peer.url,
      audience: to,
      key: peer.keys[0] as (typeof peer.keys)[0],
    },
  );
  const request = open(`${to}${path}`, {
    method: 'PUT',
    headers: {
      Authorization: `Peer ${token}`,
      'Content-Type': 'application/json',
      'Content-Length': body.length,
    },
  });
  request.on('error', () => {}); // It is broken off.
  request.write(body.subarray(0, 1));
  return request;
}
