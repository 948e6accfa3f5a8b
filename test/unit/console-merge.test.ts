import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeLanguages, mergeValues } from '../../services/console/rooms/elements/merge.ts';

const value = fc.constantFrom('a', 'b', 'c').map((each) => [each]);
const form = fc.record({ x: value, y: value, z: value });

describe('the merge of two people’s changes', () => {
  it('loses no change: each is taken, or told as a conflict', () => {
    fc.assert(
      fc.property(form, form, form, (base, typed, theirs) => {
        const { values, conflicts } = mergeValues(base, typed, theirs);
        for (const name of ['x', 'y', 'z'] as const) {
          const conflict = conflicts.find((each) => each.name === name);
          const [before, mine, saved] = [base, typed, theirs].map((each) => each[name][0]);
          if (mine !== before) expect(values[name]?.[0]).toBe(mine);
          else expect(values[name]?.[0]).toBe(saved);
          expect(conflict !== undefined).toBe(mine !== before && saved !== before && mine !== saved);
          if (conflict) expect(conflict.theirs[0]).toBe(saved);
        }
      }),
    );
  });

  it('does not take an empty input for a change of one that was never filled in', () => {
    expect(mergeValues({ x: [] }, { x: [''] }, { x: ['theirs'] })).toEqual({
      values: { x: ['theirs'] },
      conflicts: [],
    });
  });

  it('keeps added languages of both, and removes those that one has removed', () => {
    expect(mergeLanguages(['en', 'fr'], ['en', 'fr', 'ar'], ['en', 'de'])).toEqual(['en', 'ar', 'de']);
    expect(mergeLanguages([], ['en'], ['en'])).toEqual(['en']);
  });
});
