import { expect, it } from 'vitest';
import { composeStats } from '../../services/transactions/statistics/stats.ts';

it('A day that is counted in two parts is one day, elements come in the order of their keys, and withdrawals are counted', () => {
  const day = { date: '2026-01-02', state: 'COMMITTED' as const };
  const counted = [
    { date: '2026-01-01', state: null, count: 0 },
    { ...day, count: 2 },
    { ...day, count: 3 },
  ];
  const given = { date: day.date, type: 'processing' as const, answer: 'accepted' as const, withdrawn: 0 };
  const answered = [
    { ...given, key: 'b', count: 1 },
    { ...given, key: 'a', count: 4 },
    { ...given, key: 'b', count: 2 },
    { ...given, key: 'b', answer: 'refused' as const, count: 2, withdrawn: 1 },
  ];
  const { states, elements, days } = composeStats(counted, answered);
  expect(states.COMMITTED).toBe(5);
  expect(elements).toEqual([
    { key: 'a', type: 'processing', accepted: 4, refused: 0, withdrawn: 0 },
    { key: 'b', type: 'processing', accepted: 3, refused: 2, withdrawn: 1 },
  ]);
  expect(days).toEqual([
    { date: '2026-01-01', created: 0, committed: 0, accepted: 0, refused: 0, withdrawn: 0 },
    { date: '2026-01-02', created: 5, committed: 5, accepted: 7, refused: 2, withdrawn: 1 },
  ]);
});
