import { assert, date, property } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseTimestamp } from '#lib/text/timestamp.ts';
import { impossibleTimes } from '../support/samples/impossible-times.ts';

describe('a time', () => {
  it.each(impossibleTimes)('%s is not valid', (text) => {
    expect(parseTimestamp(text)).toBeUndefined();
  });

  it.each([
    ['2028-02-29', '2028-02-29T00:00:00.000Z'],
    ['2026-05-03T10:00Z', '2026-05-03T10:00:00.000Z'],
    ['2026-05-03 10:00:00Z', '2026-05-03T10:00:00.000Z'],
    ['2026-05-03t10:00:00.123456789z', '2026-05-03T10:00:00.123Z'],
    ['2026-05-03T10:00:00+05:45', '2026-05-03T04:15:00.000Z'],
    ['2026-05-03T10:00:00-00:00', '2026-05-03T10:00:00.000Z'],
    ['2026-12-31T23:00:00-02:00', '2027-01-01T01:00:00.000Z'],
    ['0001-01-01', '0001-01-01T00:00:00.000Z'],
  ])('%s is %s', (text, time) => {
    expect(parseTimestamp(text)?.toISOString()).toBe(time);
  });

  it('that JavaScript has written is read as the same', () => {
    const times = date({
      min: new Date('0001-01-01T00:00:00Z'),
      max: new Date('9999-12-31T23:59:59.999Z'),
      noInvalidDate: true,
    });
    assert(property(times, (time) => void expect(parseTimestamp(time.toISOString())).toEqual(time)));
  });
});
