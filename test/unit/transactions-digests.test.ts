import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { randomId } from '#lib/ids/random-id.ts';
import { answersDigest } from '../../services/transactions/domain/answers-digest.ts';
import { sha256Canonical } from '../../services/transactions/domain/context-digest.ts';
import { addDuration } from '../../services/transactions/domain/duration.ts';

const answers = { 'element/processing/a/1.0': ['accepted'], 'element/preference/b/1.0': ['x', 'y'] };
const digest = (map: Record<string, string[]>) => answersDigest(map).toString('hex');

describe('the digest of answers', () => {
  it('is the same for the same answers in any order and dress', () => {
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
