import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type FollowerState,
  moveFollower,
  type SubmissionAnswer,
} from '../../services/transactions/domain/part.ts';

const states: FollowerState[] = ['WAITING', 'SENDING', 'HELD', 'ACCEPTED', 'REFUSED', 'DROPPED'];
const verdicts: SubmissionAnswer['verdict'][] = ['committed', 'held', 'rolledback', 'refused', 'expired'];

describe('a part at its owner', () => {
  it('moves as its owner says, and in no other way', () => {
    const moves = states.flatMap((state) =>
      verdicts.flatMap((verdict) => {
        const next = moveFollower({ state, mode: 'commit' }, { verdict });
        return next ? [`${state} ${verdict} ${next.state}`] : [];
      }),
    );
    expect(moves).toEqual([
      'SENDING committed ACCEPTED',
      'SENDING held HELD',
      'SENDING rolledback REFUSED',
      'SENDING refused REFUSED',
      'SENDING expired DROPPED',
      'HELD committed ACCEPTED',
      'HELD rolledback REFUSED',
      'HELD refused REFUSED',
    ]);
  });

  it('that is to be held is not in force by its owner’s word alone', () => {
    const part = { state: 'SENDING', mode: 'hold' } as const;
    expect(moveFollower(part, { verdict: 'committed' })).toEqual({ state: 'HELD', reason: null });
  });

  it('is settled after two words at most, with a reason if and only if it is in force nowhere', () => {
    const said = fc.array(fc.constantFrom(...verdicts));
    fc.assert(
      fc.property(said, fc.constantFrom('commit', 'hold' as const), (words, mode) => {
        let state: FollowerState = 'SENDING';
        let moves = 0;
        for (const verdict of words) {
          const next = moveFollower({ state, mode: mode as 'hold' }, { verdict });
          if (!next) continue;
          expect(next.reason !== null).toBe(next.state === 'REFUSED' || next.state === 'DROPPED');
          state = next.state;
          moves += 1;
        }
        expect(moves).toBeLessThanOrEqual(2);
      }),
    );
  });
});
