import fc from 'fast-check';
import { expect, it } from 'vitest';
import { splitPeriod } from '../../services/transactions/statistics/stats.ts';

const dayMs = 24 * 60 * 60 * 1000;
const instant = fc.date({ min: new Date('2020-01-01'), max: new Date('2030-01-01'), noInvalidDate: true });

it('The parts of a period cover it without gaps, and none is empty or too long', () => {
  fc.assert(
    fc.property(
      instant,
      fc.integer({ min: 1, max: 366 * dayMs }),
      fc.integer({ min: 1, max: 40 }),
      (after, ms, days) => {
        const before = new Date(after.getTime() + ms);
        const parts = splitPeriod({ after, before }, days);
        expect(parts[0]?.after).toEqual(after);
        expect(parts.at(-1)?.before).toEqual(before);
        for (const [index, part] of parts.entries()) {
          if (index > 0) expect(part.after).toEqual(parts[index - 1]?.before);
          const length = part.before.getTime() - part.after.getTime();
          expect(length > 0 && length <= days * dayMs).toBe(true);
        }
      },
    ),
  );
});

it('A period that ends before it begins has no parts', () => {
  expect(splitPeriod({ after: new Date(1), before: new Date(1) }, 7)).toEqual([]);
});
