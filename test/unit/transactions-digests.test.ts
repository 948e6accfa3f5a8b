import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { randomId } from '#lib/ids/random-ids.ts';
import { addDuration } from '#lib/text/duration.ts';
import { createAnswersDigests } from '../../services/transactions/answer/answers.ts';
import { sha256Canonical } from '../../services/transactions/transaction/values.ts';

const answers = { 'element/processing/a/1.0': ['accepted'], 'element/preference/b/1.0': ['x', 'y'] };
const secret = randomBytes(32);
const digests = createAnswersDigests([secret]);
const digest = (map: Record<string, string[]>) => digests.of(map, false).toString('hex');

describe('the digest of answers', () => {
  it('is the same for the same answers in any order and notation', () => {
    const alike = {
      info: ['element/information/i/1.0'],
      'bloc/17/element/preference/b/1.0': ['y ', 'x'],
      'element/processing/a/1.0': ['accepted'],
      'element/preference/c/1.0': [],
    };
    expect(digest(alike)).toBe(digest(answers));
  });
  it('differs as soon as one answer differs', () => {
    expect(digest({ ...answers, 'element/processing/a/1.0': ['refused'] })).not.toBe(digest(answers));
    expect(digest({ ...answers, comment: ['why'] })).not.toBe(digest(answers));
  });
  it('does not depend on the order in which members were written', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.array(fc.string())), (map) => {
        const reversed = Object.fromEntries(Object.entries(map).reverse());
        expect(digest(reversed)).toBe(digest(map));
      }),
    );
  });
});

describe('the digest of answers that are a peer’s', () => {
  it('reveals nothing without the secret', () => {
    const guesses = ['accepted', 'refused'].map((each) => ({ 'element/processing/a@b.example/1.0': [each] }));
    const kept = digests.of(guesses[0] ?? {}, true);
    for (const guess of guesses) {
      expect(kept).not.toEqual(digests.of(guess, false));
      expect(kept).not.toEqual(createAnswersDigests([randomBytes(32)]).of(guess, true));
    }
  });
  it('matches equal answers under any of the secrets, in any order and notation', () => {
    const map = fc.dictionary(fc.string(), fc.array(fc.string()));
    fc.assert(
      fc.property(map, map, fc.boolean(), (one, other, sealed) => {
        const kept = digests.of(one, sealed);
        const rotated = createAnswersDigests([randomBytes(32), secret]);
        expect(rotated.matches(kept, Object.fromEntries(Object.entries(one).reverse()))).toBe(true);
        expect(rotated.matches(kept, other)).toBe(digest(one) === digest(other));
        if (sealed) expect(createAnswersDigests([randomBytes(32)]).matches(kept, one)).toBe(false);
      }),
    );
  });
});

describe('canonical JSON', () => {
  it('leaves undefined members out and sorts the rest', () => {
    expect(sha256Canonical({ b: 1, a: undefined, c: { z: 1, y: 2 } })).toEqual(
      sha256Canonical({ c: { y: 2, z: 1 }, b: 1 }),
    );
  });
});

describe('durations', () => {
  it('are added on the calendar in UTC', () => {
    expect(addDuration(new Date('2026-08-31T23:30:00Z'), 'P6M').toISOString()).toBe(
      '2027-02-28T23:30:00.000Z',
    );
    expect(addDuration(new Date('2027-03-27T23:30:00Z'), 'P1D').toISOString()).toBe(
      '2027-03-28T23:30:00.000Z',
    );
  });
});

describe('ids', () => {
  it('are 22 characters of base58, all different', () => {
    const ids = Array.from({ length: 1000 }, randomId);
    expect(new Set(ids).size).toBe(1000);
    for (const id of ids) expect(id).toMatch(/^[1-9A-HJ-NP-Za-km-z]{22}$/);
  });
});
