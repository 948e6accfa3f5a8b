import { describe, expect, it } from 'vitest';
import { type Fault, formAndSubmit } from './faults/fault.ts';
import type { Line } from './load/history.ts';
import { createMeter } from './load/send.ts';
import { createRandom, drawBlows } from './random.ts';
import type { Outcome } from './run-chaos.ts';
import { judge } from './verdict.ts';

const fault = (name: string, breaks: string, promised?: Fault['promised']): Fault => ({
  name,
  breaks,
  lasts: [0, 0],
  strike: async () => async () => {},
  ...(promised && { promised }),
});
const kafka = fault('Kafka down', 'Kafka', formAndSubmit);
const postgres = fault('PostgreSQL killed', 'PostgreSQL');
const answered: Line = { request: 1, told: 'acknowledged', kind: 'submit', id: 'a', answers: {} };

/** A run of two faults and two answers, with 1,000 forms while Kafka was down. */
function makeOutcome({ breaches = [] as string[], failed = 0 } = {}): Outcome {
  const meter = createMeter();
  for (let form = 0; form < 1_000; form += 1)
    meter.add({ what: 'form', at: 10, ms: 1, ...(form < failed && { failed: '503' }) });
  meter.add({ what: 'form', at: 30, ms: 1, failed: '503' });
  return {
    history: [answered, answered],
    meter,
    lostReplies: 0,
    breaches,
    struck: [
      { blow: [kafka], from: 5, to: 15 },
      { blow: [postgres], from: 25, to: 35 },
    ],
  };
}

describe('the verdict on a run', () => {
  const failing = (outcome: Outcome, goal = { faults: 2, answers: 2 }) =>
    judge(outcome, goal)
      .filter(({ good }) => !good)
      .map(({ what, got }) => `${what}: ${got}`);

  it('passes when every goal is reached, even if requests failed while PostgreSQL was down', () => {
    expect(failing(makeOutcome({ failed: 1 }))).toEqual([]);
  });

  it.each([
    ['too few faults', makeOutcome(), { faults: 3, answers: 2 }, 'faults: 2'],
    ['too few answers', makeOutcome(), { faults: 2, answers: 3 }, 'acknowledged submits: 2'],
    ['something lost', makeOutcome({ breaches: ['I1: a is lost'] }), undefined, 'lost (I1): 1'],
    ['something doubled', makeOutcome({ breaches: ['I2: a is there twice'] }), undefined, 'doubled (I2): 1'],
    ['a process that ended', makeOutcome({ breaches: ['I9: it ended'] }), undefined, 'other breaches: 1'],
    [
      'two of a thousand forms that failed',
      makeOutcome({ failed: 2 }),
      undefined,
      'GET form and POST submit while Kafka, Redis or webhooks are broken: 99.80 % of 1000',
    ],
  ] as const)('names %s', (_what, outcome, goal, found) => {
    expect(failing(outcome, goal)).toEqual([found]);
  });
});

describe('drawBlows', () => {
  it('draws every kind of fault first: alone if it has a promise, else in pairs that break different things', () => {
    const faults = [
      ...['Kafka down', 'Kafka paused'].map((name) => fault(name, 'Kafka', formAndSubmit)),
      ...['kill -9 of auth', 'SIGSTOP of auth'].flatMap((name) => [
        fault(name, 'auth 1'),
        fault(name, 'auth 2'),
      ]),
      ...['PostgreSQL killed', 'PostgreSQL paused'].map((name) => fault(name, 'PostgreSQL')),
    ];
    for (let seed = 0; seed < 50; seed += 1) {
      const blows = drawBlows(faults, createRandom(seed));
      const drawn: (readonly Fault[])[] = [];
      while (drawn.flat().length < 6) drawn.push(blows.next().value);
      expect(new Set(drawn.flat().map(({ name }) => name)).size).toBe(6);
      for (const blow of drawn) {
        if (blow.some(({ promised }) => promised)) expect(blow.length).toBe(1);
        expect(new Set(blow.map(({ breaks }) => breaks)).size).toBe(blow.length);
      }
    }
  });
});
