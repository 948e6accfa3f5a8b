import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  historyAt,
  isFinal,
  type ReadTransaction,
  type State,
  stateAt,
  states,
  statesBefore,
  transitions,
} from '../../services/transactions/transaction/transaction.ts';

const triggers = ['commit', 'submit', 'commit-submitted', 'cancel', 'time-out', 'roll-back'] as const;

describe('the state table', () => {
  it('allows exactly the transitions that the interface specifies', () => {
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
      'SUBMITTED commit-submitted COMMITTED',
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
    expect(statesBefore('commit-submitted')).toEqual(['SUBMITTED']);
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

  it('ends every history with the state that readers see, and repeats none', () => {
    const at = fc.date({ noInvalidDate: true });
    fc.assert(
      fc.property(fc.constantFrom(...states), fc.boolean(), at, at, (state, awaitsCode, expiresAt, now) => {
        const version = state === 'CREATED' ? 1 : 2;
        const transaction = { state, version, awaitsCode, expiresAt } as ReadTransaction['transaction'];
        const created = { version: 1, state: 'CREATED' as const, at: now };
        const stored = version === 1 ? [created] : [created, { version, state, at: now }];
        const history = historyAt(stored, { transaction, now });
        expect(history.at(-1)?.state).toBe(stateAt(transaction, now));
        expect(history.map((entry) => entry.version)).toEqual(history.map((_, place) => place + 1));
        expect(new Set(history.map((entry) => entry.state)).size).toBe(history.length);
      }),
    );
  });
});
