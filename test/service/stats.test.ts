import { afterAll, beforeAll, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { type Caller, signIn } from '../support/instances/callers.ts';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';

type Stats = components['schemas']['Stats'];

let instance: TestInstance;
let operator: Caller;
beforeAll(async () => {
  // Where a day is already over that has hardly begun in UTC, and the other way round.
  instance = await startTestInstance({ INSTANCE_TIME_ZONE: 'Pacific/Auckland' });
  operator = await signIn(instance, 'operator');
});
afterAll(() => instance?.stop());

const layoutData = { elements: ['processing.001', 'preference.003'] };
const answer = (subject: string, decision: string) =>
  operator.send('POST', '/consents/singlestep', {
    context: { subject, layoutData },
    values: { 'element/processing/processing.001/1.0': [decision] },
  });
const today = () => new Intl.DateTimeFormat('sv', { timeZone: 'Pacific/Auckland' }).format(new Date());
const readStats = async (query = '') => (await (await operator.get(`/stats${query}`)).json()) as Stats;

it('operators see how many transactions and accepted decisions there are', async () => {
  const before = await readStats();
  expect(before.elements).toEqual([]);
  expect(before.days.at(-1)).toMatchObject({ date: today(), created: 0 });
  for (const subject of ['a', 'b']) await answer(subject, 'accepted');
  await answer('c', 'refused');
  // Who tries a form is not counted.
  await answer('trial/admin', 'accepted');
  await operator.send('POST', '/consents', { subject: 'd', layoutData });
  const stats = await readStats();
  expect(stats.states).toMatchObject({ CREATED: 1, COMMITTED: 3, CANCELLED: 0 });
  expect(stats.elements).toEqual([
    { key: 'processing.001', type: 'processing', accepted: 2, refused: 1, withdrawn: 0 },
  ]);
  expect(stats.days.at(-1)).toEqual({
    date: today(),
    created: 4,
    committed: 3,
    accepted: 2,
    refused: 1,
    withdrawn: 0,
  });
});

it('the answers to some elements can be counted alone', async () => {
  const { states, elements, days } = await readStats('?elements=conditions.001,preference.003');
  expect([states.COMMITTED, elements]).toEqual([3, []]);
  expect(days.at(-1)).toEqual({
    date: today(),
    created: 4,
    committed: 3,
    accepted: 0,
    refused: 0,
    withdrawn: 0,
  });
  const decided = await readStats('?elements=processing.001');
  expect(decided.elements).toEqual([
    { key: 'processing.001', type: 'processing', accepted: 2, refused: 1, withdrawn: 0 },
  ]);
  expect(decided.days.at(-1)).toMatchObject({ created: 4, accepted: 2, refused: 1 });
});

it('a refusal that ended a consent is counted as a withdrawal, too', async () => {
  await answer('a', 'refused');
  const { elements, days } = await readStats();
  expect(elements).toEqual([
    { key: 'processing.001', type: 'processing', accepted: 2, refused: 2, withdrawn: 1 },
  ]);
  expect(days.at(-1)).toMatchObject({ refused: 2, withdrawn: 1 });
});

it('a period without transactions has a row for each day', async () => {
  const { days, states } = await readStats('?after=2026-01-01&before=2026-01-03');
  expect(days.map(({ date }) => date)).toEqual(['2026-01-01', '2026-01-02', '2026-01-03']);
  expect(Object.values(states)).toEqual([0, 0, 0, 0, 0, 0]);
});

it('a year is counted in parts and has each day once', async () => {
  const after = '2025-03-01T12:00:00Z';
  const { days } = await readStats(`?after=${after}&before=2026-03-01T12:00:00Z`);
  expect(days).toHaveLength(366);
  expect([days[0]?.date, days.at(-1)?.date]).toEqual(['2025-03-02', '2026-03-02']);
  const dates = days.map(({ date }) => date);
  expect(dates).toEqual([...new Set(dates)].sort());
});

it('an invalid period or one longer than a year is rejected', async () => {
  for (const query of [
    '?after=2026-02-01&before=2026-01-01',
    '?after=2024-01-01&before=2026-01-01',
    '?after=soon',
  ])
    expect((await operator.get(`/stats${query}`)).status).toBe(422);
});
