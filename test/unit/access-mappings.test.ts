import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type AccessMapping,
  type AskedAccess,
  firstFitting,
  isObjectPlace,
  questionOf,
  readPlace,
} from '../../services/transactions/decisions/mapping.ts';

const word = fc.constantFrom('user', 'read', 'record', 'a.b', '__proto__', 'constructor');
const scalar = fc.oneof(word, fc.integer({ min: 0, max: 2 }), fc.boolean());
const properties = fc.option(fc.dictionary(word, scalar, { maxKeys: 3 }), { nil: undefined });
const asked: fc.Arbitrary<AskedAccess> = fc.record({
  subject: fc.record({ type: word, id: word, properties }),
  action: fc.record({ name: word, properties }),
  resource: fc.record({ type: word, id: word, properties }),
});
const entity = fc.constantFrom('subject', 'action', 'resource');
const property = fc.tuple(entity, word).map(([name, member]) => `${name}.properties.${member}`);
const place = fc.oneof(property, fc.constantFrom('subject.id', 'resource.id'));
const mapping: fc.Arbitrary<AccessMapping> = fc.record(
  {
    subjectType: word,
    action: word,
    resourceType: word,
    when: fc.dictionary(place, scalar, { maxKeys: 2 }),
    element: word,
    object: fc.constantFrom('resource.id', 'resource.properties.record'),
  },
  { requiredKeys: [] },
);

/** Written from the documentation: what an evaluation has at a place. */
function look({ subject, action, resource }: AskedAccess, at: string): unknown {
  const known = new Map<string, unknown>([
    ['subject.id', subject.id],
    ['resource.id', resource.id],
  ]);
  for (const [name, { properties: has }] of Object.entries({ subject, action, resource }))
    for (const [member, value] of Object.entries(has ?? {})) known.set(`${name}.properties.${member}`, value);
  return known.get(at);
}

const isFitting = ({ subjectType, action, resourceType, when }: AccessMapping, given: AskedAccess) =>
  [subjectType ?? given.subject.type, action ?? given.action.name, resourceType ?? given.resource.type].join(
    ' ',
  ) === [given.subject.type, given.action.name, given.resource.type].join(' ') &&
  Object.entries(when ?? {}).every(([at, value]) => look(given, at) === value);

describe('the mapping of an evaluation', () => {
  it('is the first whose every condition holds', () => {
    fc.assert(
      fc.property(fc.array(mapping, { maxLength: 6 }), asked, (mappings, given) => {
        const expected = mappings.findIndex((each) => isFitting(each, given));
        expect(firstFitting(mappings, given)).toBe(mappings[expected]);
      }),
    );
  });

  it('asks about its object, and about nothing if the evaluation has none', () => {
    fc.assert(
      fc.property(mapping, asked, (each, given) => {
        const { element, object } = each;
        const value = object === undefined ? undefined : look(given, object);
        const isNamed = typeof value === 'string' || typeof value === 'number';
        const expected = object === undefined ? { element } : { element, object: String(value) };
        expect(questionOf(each, given)).toEqual(object !== undefined && !isNamed ? undefined : expected);
      }),
    );
  });

  it('looks at values of requests only', () => {
    expect(['subject.properties.', 'subject', 'action.id', 'context.time', ''].map(readPlace)).toEqual(
      Array.from({ length: 5 }, () => undefined),
    );
    expect(
      ['resource.id', 'resource.properties.a', 'subject.id', 'action.properties.a'].map(isObjectPlace),
    ).toEqual([true, true, false, false]);
  });
});
