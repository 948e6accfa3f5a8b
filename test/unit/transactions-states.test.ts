import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isFinal,
  type State,
  stateAt,
  states,
  statesBefore,
  transitions,
} from '../../services/transactions/domain/transaction.ts';

const triggers = ['commit', 'submit', 'confirm', 'cancel', 'time-out', 'roll-back'] as const;

describe('the state table', () => {
  it('has exactly the moves of the interface and the decisions', () => {
    const moves = states.flatMap((from) =>
      triggers.flatMap((trigger) =>
        transitions[from][trigger] ? [`${from} ${trigger} ${transitions[from][trigger]}`] : [],
      ),
    );
    expect(moves).toEqual([
      'CREATED commit COMMITTED',
      'CREATED submit SUBMITTED',
      'CREATED cancel CANCELLED',
      'CREATED time-out TIMEOUT',
      'SUBMITTED confirm COMMITTED',
      'SUBMITTED cancel CANCELLED',
      'SUBMITTED time-out TIMEOUT',
      'SUBMITTED roll-back ROLLBACK',
    ]);
  });

  it('ends every sequence of triggers in a final state after at most two moves, and never leaves it', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...triggers)), (sequence) => {
        let state: State = 'CREATED';
        let moves = 0;
        for (const trigger of sequence) {
          const next: State | undefined = transitions[state][trigger];
          if (!next) continue;
          expect(isFinal(state)).toBe(false);
          state = next;
          moves += 1;
        }
        expect(moves).toBeLessThanOrEqual(2);
      }),
    );
  });

  it('names the states that a trigger leaves', () => {
    expect(statesBefore('cancel')).toEqual(['CREATED', 'SUBMITTED']);
    expect(statesBefore('confirm')).toEqual(['SUBMITTED']);
  });

  it('shows TIMEOUT from the deadline of the subject on, ROLLBACK from that of peers, and never for a final state', () => {
    const at = fc.date({ noInvalidDate: true });
    fc.assert(
      fc.property(fc.constantFrom(...states), fc.boolean(), at, at, (state, awaitsCode, expiresAt, now) => {
        const seen = stateAt({ state, awaitsCode, expiresAt }, now);
        const after = state === 'SUBMITTED' && !awaitsCode ? 'ROLLBACK' : 'TIMEOUT';
        expect(seen).toBe(!isFinal(state) && now >= expiresAt ? after : state);
      }),
    );
  });
});
