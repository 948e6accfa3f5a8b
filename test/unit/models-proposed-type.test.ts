import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { changedTerms, isSame, proposeType } from '#lib/models/proposed-type.ts';

const before = {
  title: 'Letters',
  data: 'Your name',
  usage: 'To write to you',
  retention: { value: 3, unit: 'YEAR', label: 'Three years' },
  thirdParties: [{ name: 'Post House' }],
  purposes: ['CONSENT_MARKETING'],
  legalBases: ['LEGAL_BASIS_CONSENT'],
  validity: 'P1Y',
};
const changed = (change: object) => changedTerms({ en: before }, { en: { ...before, ...change } });

describe('the proposed type of a version', () => {
  it.each([
    [{ data: 'Your name and address' }, ['data']],
    [{ usage: 'To sell' }, ['usage']],
    [{ thirdParties: [] }, ['thirdParties']],
    [{ purposes: ['CONSENT_MARKETING', 'CONSENT_RESEARCH'] }, ['purposes']],
    [{ legalBases: ['LEGAL_BASIS_CONTRACT'] }, ['legalBases']],
    [{ validity: 'P2Y' }, ['validity']],
    [{ validity: undefined }, []],
    [{ validity: 'P3M' }, []],
    [{ title: 'Our letters', refusable: true }, []],
    [{ retention: { value: 4, unit: 'YEAR', label: 'Three years' } }, ['retention']],
    [{ retention: { value: 1, unit: 'YEAR', label: 'One year' } }, []],
    [{ retention: { value: 30, unit: 'MONTH', label: '30 months' } }, []],
    [{ retention: { value: 36, unit: 'MONTH', label: '36 months' } }, ['retention']],
    [{ retention: { label: 'Three years' } }, ['retention']],
    [{ retention: { value: 3, unit: 'YEAR', label: 'At least three years' } }, ['retention']],
  ])('is MAJOR if people agreed to something else: %j', (change, members) => {
    expect(changed(change)).toEqual(members);
    expect(proposeType({ en: before }, { en: { ...before, ...change } }, false)).toBe(
      members.length > 0 ? 'MAJOR' : 'MINOR',
    );
  });

  it('is MAJOR if a MINOR is not allowed', () => {
    expect(proposeType({ en: before }, { en: before }, true)).toBe('MAJOR');
  });

  it('compares the languages that both have, and without any the first ones', () => {
    expect(changedTerms({ en: before }, { en: before, fr: { data: 'Votre nom' } })).toEqual([]);
    expect(changedTerms({ en: before }, { fr: { ...before, data: 'Votre nom' } })).toEqual(['data']);
  });

  it('is MINOR without a change, whatever the content', () => {
    const object = fc.dictionary(fc.string(), fc.jsonValue());
    const content = fc.record({ data: fc.string(), retention: object, thirdParties: fc.array(object) });
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('en', 'fr'), content, { minKeys: 1 }), (data) => {
        expect(changedTerms(data, structuredClone(data))).toEqual([]);
      }),
      { numRuns: 100 },
    );
  });
});

describe('equal values of JSON', () => {
  it('have the same members in any order', () => {
    expect(isSame({ a: 1, b: [{ c: null }] }, { b: [{ c: null }], a: 1, d: undefined })).toBe(true);
    for (const [one, other] of [
      [{ a: 1 }, { b: 1 }],
      [[], {}],
      [
        ['a', 'b'],
        ['b', 'a'],
      ],
      [null, {}],
      [{ a: '1' }, { a: 1 }],
    ])
      expect(isSame(one, other)).toBe(false);
  });
});
