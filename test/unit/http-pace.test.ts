import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { addressNetwork } from '#lib/http/client-address.ts';
import { createPaceAccounts } from '#lib/http/pace-accounts.ts';
import { createWorkMeter } from '#lib/http/work-meter.ts';

describe('the share of an account', () => {
  const costs = fc.array(fc.record({ cost: fc.integer({ min: 0, max: 300 }), pause: fc.nat(2_000) }), {
    minLength: 1,
    maxLength: 60,
  });

  it('is a twentieth of the time and 100 ms at once, whatever the account asks for', () => {
    fc.assert(
      fc.property(costs, fc.integer({ min: 1, max: 16 }), (requests, connections) => {
        const accounts = createPaceAccounts();
        accounts.enter('others');
        const free = Array.from({ length: connections }, () => 0);
        let [now, taken] = [0, 0];
        for (const { cost, pause } of requests) {
          // The connection that is answered first sends the next request.
          const next = free.indexOf(Math.min(...free));
          now = Math.max(now, free[next] as number);
          // Before that it has waited for its share of all that was taken.
          const atOnce = 100 + (connections + 1) * 300;
          expect(taken).toBeLessThanOrEqual(now / 20 + atOnce);
          taken += cost;
          free[next] = now + pause + Math.min(10_000, accounts.charge('stranger', cost, now));
        }
      }),
    );
  });

  it('is not waited for while no other account is served', () => {
    const accounts = createPaceAccounts();
    expect(accounts.areOthersServed('stranger', 0)).toBe(false);
    accounts.enter('stranger');
    expect(accounts.areOthersServed('stranger', 0)).toBe(false);
    accounts.leave('stranger', 0);
    expect(accounts.areOthersServed('stranger', 0)).toBe(false);
    accounts.enter('person');
    expect(accounts.areOthersServed('stranger', 5_000)).toBe(true);
    accounts.leave('person', 5_000);
    accounts.enter('stranger');
    accounts.leave('stranger', 5_900);
    expect(accounts.areOthersServed('stranger', 5_999)).toBe(true);
    expect(accounts.areOthersServed('stranger', 6_000)).toBe(false);
    expect(accounts.areOthersServed('person', 6_000)).toBe(true);
  });

  it('is not touched by others', () => {
    fc.assert(
      fc.property(costs, (requests) => {
        const accounts = createPaceAccounts();
        let now = 0;
        for (const { cost, pause } of requests) {
          accounts.enter('flood');
          accounts.charge('flood', cost, now);
          accounts.leave('flood', now);
          now += pause;
        }
        accounts.enter('flood');
        expect(accounts.charge('person', 50, now)).toBe(0);
      }),
    );
  });

  it('is never waited for longer than ten seconds, and is whole again after twelve', () => {
    const accounts = createPaceAccounts();
    accounts.enter('others');
    for (let count = 0; count < 1_000; count += 1)
      expect(accounts.charge('stranger', 1_000, 0)).toBeLessThanOrEqual(10_000);
    expect(accounts.charge('stranger', 90, 12_000)).toBe(0);
  });

  it('is not exceeded by much at once by an account that was served alone', () => {
    const accounts = createPaceAccounts();
    for (let count = 0; count < 1_000; count += 1) accounts.charge('stranger', 1_000, 0);
    accounts.enter('others');
    expect(accounts.charge('stranger', 1, 0)).toBeLessThan(200);
  });

  it('is forgotten, so that a million networks take no more memory than some thousand', () => {
    const count = (networks: number) => {
      const accounts = createPaceAccounts();
      for (let number = 0; number < networks; number += 1) {
        accounts.enter(`network ${number}`);
        accounts.charge(`network ${number}`, 50, number);
        accounts.leave(`network ${number}`, number);
      }
      return accounts.size();
    };
    expect(count(1_000_000)).toBe(count(10_000));
  });
});

describe('the network of a client', () => {
  it('is the same for all addresses of an IPv6 /64, and for an IPv4 address that is mapped to IPv6', () => {
    const part = fc.integer({ min: 0, max: 0xffff }).map((value) => value.toString(16));
    const four = fc.array(part, { minLength: 4, maxLength: 4 });
    fc.assert(
      fc.property(four, four, four, (network, one, other) => {
        const address = (host: string[]) => [...network, ...host].join(':');
        // ::/64 has the mapped addresses.
        fc.pre(network.some((each) => each !== '0'));
        expect(addressNetwork(address(one))).toBe(addressNetwork(address(other)));
      }),
    );
    fc.assert(
      fc.property(fc.ipV4(), (address) => {
        expect(addressNetwork(`::ffff:${address}`)).toBe(addressNetwork(address));
      }),
    );
  });
});

describe('the costs of requests', () => {
  /** Moments at which requests begin, pause, go on and end, in any order. */
  const steps = fc.array(
    fc.record({
      ms: fc.integer({ min: 0, max: 50 }),
      request: fc.nat(4),
      act: fc.constantFrom('begin', 'pause', 'resume', 'end'),
    }),
    { maxLength: 100 },
  );

  it('are together the time in which at least one request was at work', () => {
    fc.assert(
      fc.property(steps, (moments) => {
        let now = 0;
        const meter = createWorkMeter(() => now);
        const requests = new Map<number, { work: ReturnType<typeof meter.begin>; isAtWork: boolean }>();
        let [busy, charged] = [0, 0];
        for (const { ms, request: number, act } of moments) {
          if ([...requests.values()].some(({ isAtWork }) => isAtWork)) busy += ms;
          now += ms;
          const request = requests.get(number);
          if (act === 'begin' && !request) requests.set(number, { work: meter.begin(), isAtWork: true });
          if (act === 'pause') request?.work.pause();
          if (act === 'resume') request?.work.resume();
          if (act === 'end' && request) {
            charged += request.work.end();
            requests.delete(number);
          } else if (request && act !== 'begin') request.isAtWork = act === 'resume';
        }
        for (const { work } of requests.values()) charged += work.end();
        expect(charged).toBeCloseTo(busy, 6);
      }),
    );
  });

  it('are the same for requests that were at work in the same time', () => {
    let now = 0;
    const meter = createWorkMeter(() => now);
    const [one, other] = [meter.begin(), meter.begin()];
    now = 30;
    expect([one.end(), other.end()]).toEqual([15, 15]);
  });

  it('count the time of the event loop alone, not that of a wait for PostgreSQL', async () => {
    const work = createWorkMeter().begin();
    const waited = performance.now() + 200;
    while (performance.now() < waited) await new Promise((done) => setTimeout(done, 20));
    expect(work.end()).toBeLessThan(150);
  });
});
