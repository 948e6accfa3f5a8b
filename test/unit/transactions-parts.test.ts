import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createRecentDatabaseTime } from '../../services/transactions/received-parts/accept.ts';
import type { ReportedVerdict } from '../../services/transactions/sent-parts/notice.ts';
import { moveAfter, type PartState } from '../../services/transactions/sent-parts/part.ts';
import { referencesOf } from '../../services/transactions/sent-parts/part-withdrawal.ts';

const states: PartState[] = ['SENDING', 'HELD', 'ACCEPTED', 'REFUSED', 'DROPPED'];
const verdicts: ReportedVerdict['verdict'][] = ['done', 'held', 'refused', 'expired'];

describe('the state of a part at the leader', () => {
  it('with mode commit changes its state as the table of verdicts says', () => {
    const moves = states.flatMap((state) =>
      verdicts.flatMap((verdict) => {
        const next = moveAfter({ state, mode: 'commit' }, { verdict });
        return next ? [`${state} ${verdict} ${next.state}`] : [];
      }),
    );
    expect(moves).toEqual([
      'SENDING done ACCEPTED',
      'SENDING held HELD',
      'SENDING refused REFUSED',
      'SENDING expired DROPPED',
      'HELD done ACCEPTED',
      'HELD refused REFUSED',
      'HELD expired DROPPED',
      'DROPPED done ACCEPTED',
    ]);
  });

  it('with mode hold is HELD when its owner has committed it', () => {
    const part = { state: 'SENDING', mode: 'hold' } as const;
    expect(moveAfter(part, { verdict: 'done' })).toEqual({ state: 'HELD', reason: null });
  });

  it('changes at most three times and has a reason exactly if it is refused or dropped', () => {
    const sequences = fc.array(fc.constantFrom(...verdicts));
    fc.assert(
      fc.property(sequences, fc.constantFrom('commit', 'hold' as const), (sequence, mode) => {
        let state: PartState = 'SENDING';
        let moves = 0;
        for (const verdict of sequence) {
          const next = moveAfter({ state, mode: mode as 'hold' }, { verdict });
          if (!next) continue;
          expect(next.reason !== null).toBe(next.state === 'REFUSED' || next.state === 'DROPPED');
          state = next.state;
          moves += 1;
        }
        expect(moves).toBeLessThanOrEqual(3);
      }),
    );
  });
});

describe('the estimated database time', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: 1_000 }));
  afterEach(() => void vi.useRealTimers());

  it('goes on from the last reading, and is that of this process before the first', () => {
    const time = createRecentDatabaseTime();
    expect(time.now()).toEqual(new Date(1_000));
    time.set(new Date(5_000));
    vi.advanceTimersByTime(999);
    expect(time.now()).toEqual(new Date(5_999));
  });
});

describe('what a child of a withdrawal asks peers for', () => {
  const lab = 'https://lab.example.org';
  const part = (location: string, ...references: string[]) => {
    const elements = references.map((reference) => {
      const [, type, key] = reference.split('/');
      const identifier = `element/${type}/${key}@${new URL(location).host}/1.0`;
      return { identifier, title: `${key}`, kind: type };
    });
    return { location, shown: { information: { identifier: 'information/terms/1.0' }, elements } };
  };
  const referencesIn = (...parts: ReturnType<typeof part>[]) =>
    referencesOf(parts as unknown as Parameters<typeof referencesOf>[0]);

  it('is every element of their parts once', () => {
    const first = part(lab, 'element/processing/trials', 'element/preference/language');
    expect(referencesIn(first, part(lab, 'element/processing/trials'))).toEqual([
      'trials@lab.example.org',
      'language@lab.example.org',
    ]);
  });
});
