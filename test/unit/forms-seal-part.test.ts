import fc from 'fast-check';
import { expect, it } from 'vitest';
import { generatePrivateKey, publicPart, readPrivateKey } from '#lib/config/secret-values.ts';
import type { CheckedAnswer, DescribedElement, DescribedInformation } from '#lib/contracts/forms.ts';
import { askedDigest, openAnswers } from '#lib/federation/sealed-answers.ts';
import { isModelKey } from '../../services/forms/domain/identifiers.ts';
import { sealPart } from '../../services/forms/operations/seal-parts.ts';

const owner = readPrivateKey(generatePrivateKey());
const { kty, crv, x, y } = publicPart(owner);
const leader = 'https://hospital.example';
const until = new Date('2026-12-24T18:00:00.001Z');
const givenAt = new Date('2026-12-24T17:00:00.123Z');
const now = new Date('2026-12-01');

const key = fc.stringMatching(/^[0-9A-Za-z_.-]{2,20}$/).filter(isModelKey);
const host = fc.constantFrom('lab.example', 'lab.example:8443', '[2001:db8::1]:8443');
const serial = fc.tuple(fc.integer({ min: 1, max: 99 }), fc.nat(99)).map((pair) => pair.join('.'));
const element = fc.record({
  type: fc.constantFrom('processing', 'preference', 'conditions'),
  key,
  serial,
  value: fc.option(fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 3 }), { nil: undefined }),
});

it('seals the asked elements and answers under the owner’s own identifiers', () => {
  const elements = fc.uniqueArray(element, { minLength: 1, maxLength: 8, selector: (each) => each.key });
  fc.assert(
    fc.property(host, key, serial, elements, (at, info, infoSerial, all) => {
      const there = ({ type, ...each }: (typeof all)[number]) =>
        `element/${type}/${each.key}@${at}/${each.serial}`;
      const own = ({ type, ...each }: (typeof all)[number]) => `element/${type}/${each.key}/${each.serial}`;
      const content = { lang: 'en' };
      const part = sealPart(
        {
          location: `https://${at}`,
          name: 'Lab',
          info: { identifier: `element/information/${info}@${at}/${infoSerial}` } as DescribedInformation,
          asked: all.map((each) => ({ identifier: there(each), content }) as DescribedElement),
          answers: all.flatMap((each) =>
            each.value ? [{ identifier: there(each), value: each.value } as CheckedAnswer] : [],
          ),
        },
        { key: { kty, crv, x, y } as never, leader, language: 'fr', givenAt, until },
      );
      const answered = all.flatMap((each) => (each.value ? [[own(each), each.value] as const] : []));
      const asked = {
        info: `element/information/${info}/${infoSerial}`,
        elements: all.map(own).sort(),
      };
      expect(openAnswers(part.sealed, { keys: [owner], now })).toEqual({
        opened: true,
        header: {
          sid: part.sid,
          leader,
          digest: askedDigest(asked),
          exp: Math.ceil(until.getTime() / 1000),
          iat: givenAt.getTime() / 1000,
        },
        content: {
          language: 'fr',
          ...asked,
          answers: JSON.parse(JSON.stringify(Object.fromEntries(answered))),
        },
      });
      // What is stored beside it tells what was asked, as the subject saw it.
      expect(part.elements.map(({ identifier }) => identifier)).toEqual(all.map(there));
      const { sealed: _sealed, ...beside } = part;
      expect(JSON.stringify(beside)).not.toContain('"value"');
    }),
    { numRuns: 50 },
  );
});

it('seals contact data with the answers, and stores none beside them', () => {
  const subjectInfos = { emailAddress: 'ann@example.org' };
  const described = { identifier: 'element/processing/letter@lab.example/1.0', content: { lang: 'en' } };
  const part = sealPart(
    {
      location: 'https://lab.example',
      name: 'Lab',
      info: { identifier: 'element/information/info@lab.example/1.0' } as DescribedInformation,
      asked: [described as DescribedElement],
      answers: [],
    },
    { key: { kty, crv, x, y } as never, leader, language: 'fr', givenAt, until, subjectInfos },
  );
  expect(openAnswers(part.sealed, { keys: [owner], now })).toMatchObject({ content: { subjectInfos } });
  expect(JSON.stringify(part)).not.toContain('ann@');
});
