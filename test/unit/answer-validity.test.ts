import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AskedQuestion,
  expiryOf,
  isLengthened,
  latestExpiry,
  longestValidityOf,
} from '#lib/text/answer-validity.ts';
import { addDuration } from '#lib/text/duration.ts';
import { expiryNotice, firstNotice } from '../../services/transactions/standing/status.ts';

const processing = (validity?: string): AskedQuestion => ({
  identifier: 'element/processing/a/1.0',
  texts: { title: 'A', ...(validity && { validity }) },
});
const conditions: AskedQuestion = { identifier: 'element/conditions/a/1.0', texts: { validity: 'P1D' } };
const some = fc.constantFrom(undefined, 'P1D', 'P30D', 'P1M', 'P6M', 'P1Y', 'P30Y', 'P50Y');
const day = fc.date({ min: new Date('2020-01-01'), max: new Date('2080-01-01'), noInvalidDate: true });

describe('an answer expires', () => {
  it('after the validity of its element, else of the context, else six months; the context only shortens', () => {
    fc.assert(
      fc.property(some, some, day, (own, given, at) => {
        const end = (duration: string) => addDuration(at, duration).getTime();
        const expected =
          own !== undefined && given !== undefined
            ? Math.min(end(own), end(given))
            : end(own ?? given ?? 'P6M');
        expect(expiryOf(processing(own), given, at)?.getTime()).toBe(expected);
        expect(expiryOf(conditions, given, at), 'conditions never expire').toBeNull();
      }),
    );
  });

  it('together with others at the latest of their expiries, and holds for the longest validity', () => {
    fc.assert(
      fc.property(fc.array(some, { minLength: 1 }), some, day, (own, given, at) => {
        const asked = own.map(processing);
        const last = latestExpiry(asked.map((each) => expiryOf(each, given, at)));
        expect(last).toEqual(addDuration(at, longestValidityOf(asked, given, at) ?? ''));
        expect(longestValidityOf([...asked, conditions], given, at)).toBeNull();
      }),
    );
    expect(latestExpiry([null])).toBeNull();
  });

  it('later than before only if the validity of its element is lengthened', () => {
    expect(isLengthened(undefined, 'P30Y')).toBe(true);
    expect(isLengthened('P1Y', 'P2Y')).toBe(true);
    expect(isLengthened('P30D', undefined)).toBe(true);
    expect(isLengthened('P2Y', 'P1Y')).toBe(false);
    expect(isLengthened('P1Y', 'P1Y')).toBe(false);
    expect(isLengthened(undefined, 'P1M')).toBe(false);
  });
});

describe('the notices of a transaction', () => {
  const dayMs = 86_400_000;
  const committedAt = new Date('2026-03-01T00:00:00Z');
  const active = { a: { major: 1, serial: '1.0', deleted: false } };
  const recordIn = (days: number) => ({
    state: 'COMMITTED' as const,
    key: 'a',
    serial: '1.0',
    infoKey: 'a',
    infoSerial: '1.0',
    isInForce: true,
    committedAt,
    expiresAt: new Date(committedAt.getTime() + days * dayMs),
  });

  it('announce and tell each expiry once, whenever they are written', () => {
    const lengths = fc.uniqueArray(fc.integer({ min: 1, max: 20_000 }), { minLength: 1, maxLength: 5 });
    const delays = fc.infiniteStream(fc.integer({ min: 0, max: 5 }));
    fc.assert(
      fc.property(lengths, fc.integer({ min: 1, max: 60 }), delays, (days, lead, late) => {
        const leadMs = lead * dayMs;
        const records = days.map(recordIn);
        const expiries = records.map(({ expiresAt }) => expiresAt);
        let dueAt = firstNotice({ committedAt, expiries }, leadMs);
        const told = { expiring: 0, expired: 0 };
        let steps = 0;
        while (dueAt !== 'infinity') {
          const now = new Date(new Date(dueAt).getTime() + Number(late.next().value) * 1000);
          const notice = expiryNotice({ id: 't', dueAt, records }, { active, leadMs, now });
          for (const name of notice.names) told[name] += 1;
          expect(notice.names.length).toBeGreaterThan(0);
          expect(notice.nextAt > now.toISOString() || notice.nextAt === 'infinity').toBe(true);
          dueAt = notice.nextAt;
          steps += 1;
        }
        expect(steps).toBeLessThanOrEqual(2 * days.length);
        // Expiries within the seconds of a delay are told together.
        expect(told.expired).toBe(days.length);
        expect(told.expiring).toBeLessThanOrEqual(days.length);
        expect(told.expiring).toBeGreaterThan(0);
      }),
    );
  });

  it('announce the next expiry also if the notice was planned with another lead', () => {
    const records = [recordIn(365), recordIn(3650)];
    const dueAt = new Date(committedAt.getTime() + 335 * dayMs).toISOString();
    const now = new Date(dueAt);
    for (const lead of [5, 36]) {
      const notice = expiryNotice({ id: 't', dueAt, records }, { active, leadMs: lead * dayMs, now });
      expect(notice).toMatchObject({ names: ['expiring'], nextAt: records[0]?.expiresAt.toISOString() });
    }
  });
});
