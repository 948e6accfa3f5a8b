import { expect, it } from 'vitest';
import { timesOfDays } from '../../services/console/pages/filters.ts';

it('the days of a filter begin and end at midnight in the zone of the instance, also when clocks change', () => {
  const days = { after: '2026-03-29', before: '2026-03-29' };
  expect(timesOfDays(days, 'Europe/Paris')).toEqual({
    after: '2026-03-28T23:00:00Z',
    before: '2026-03-29T22:00:00Z',
  });
  expect(timesOfDays({}, 'Europe/Paris')).toEqual({});
});
