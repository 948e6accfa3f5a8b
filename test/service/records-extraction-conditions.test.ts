import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { activateContent, makeLiveModel } from '../support/instances/live-models.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

type Extraction = components['schemas']['ExtractionResult'];
type Condition = components['schemas']['ExtractionCondition'];

const instance = useInstance();
const operator = useSetup(() => signIn(instance, 'operator'));
const admin = useSetup(() => signIn(instance, 'admin'));

const extract = (body: object, query = '', headers = {}) =>
  operator.send('POST', `/records/extraction${query}`, body, headers);
const found = async (body: object, query = '') => (await (await extract(body, query)).json()) as Extraction;
const namesOf = ({ values }: Extraction) => values.map(({ subjectName }) => subjectName);

const content = { en: sampleContent.processing };
/** Elements of a test's own, so that no other test's subjects are found. */
const elements = async (count: number) =>
  Promise.all(Array.from({ length: count }, () => makeLiveModel(admin, 'processing', content)));
const identifierOf = (key: string, serial = '1.0') => `element/processing/${key}/${serial}`;

describe('an extraction by several conditions', () => {
  it('has each subject once with the matching records, newest first', async () => {
    const [mail, post] = (await elements(2)).map(({ key }) => key) as [string, string];
    const say = (subject: string, mailed: string, posted: string, context = {}) =>
      recordAnswers(
        operator,
        subject,
        { [identifierOf(mail)]: [mailed], [identifierOf(post)]: [posted] },
        context,
      );
    const subjectInfos = { emailAddress: 'ada@example.org' };
    await say('ada', 'accepted', 'accepted', { subjectInfos });
    await say('bob', 'accepted', 'refused');
    await say('cy', 'refused', 'accepted', { object: 'Mia' });
    await say('cy', 'accepted', 'refused', { object: 'Tom' });
    await say('dan', 'refused', 'refused');
    const conditions = [mail, post].map((key) => ({ type: 'processing', key, value: 'accepted' }));
    const both = await found({ operator: 'AND', conditions });
    expect(namesOf(both)).toEqual(['cy', 'ada']);
    expect(both).not.toHaveProperty('next');
    const [cy, ada] = both.values;
    expect(ada).toMatchObject({ subjectEmail: 'ada@example.org', emailAddress: 'ada@example.org' });
    expect(cy).not.toHaveProperty('subjectEmail');
    expect(cy?.records.map(({ bodyKey, object }) => [bodyKey, object])).toEqual([
      [mail, 'Tom'],
      [post, 'Mia'],
    ]);
    expect(cy?.record).toEqual(cy?.records[0]);
    expect(namesOf(await found({ operator: 'OR', conditions }))).toEqual(['cy', 'bob', 'ada']);
    expect(namesOf(await found({ conditions }))).toEqual(['cy', 'ada']);
  });

  it('finds valid answers only, and only those to the given serial', async () => {
    const [element] = (await elements(1)) as [Awaited<ReturnType<typeof makeLiveModel>>];
    const { key } = element;
    await recordAnswers(operator, 'first', { [identifierOf(key)]: ['accepted'] });
    await activateContent(admin, element, content, 'MINOR');
    await recordAnswers(operator, 'second', { [identifierOf(key, '1.1')]: ['accepted'] });
    const by = (more: Partial<Condition>) =>
      found({ operator: 'OR', conditions: [{ key, value: 'accepted', regexpValue: false, ...more }] });
    expect(namesOf(await by({}))).toEqual(['second', 'first']);
    expect(namesOf(await by({ serial: '1.0' }))).toEqual(['first']);
    expect(namesOf(await by({ serial: '', type: '' }))).toEqual(['second', 'first']);
    expect(namesOf(await by({ type: 'preference' }))).toEqual([]);
    await activateContent(admin, element, content, 'MAJOR');
    expect(namesOf(await by({}))).toEqual([]);
  });

  it('finds an answer among several as one condition does', async () => {
    const interests = 'element/preference/preference.002/1.0';
    await recordAnswers(operator, 'emil', { [interests]: ['Drama', 'Dance'] });
    const by = (...values: string[]) =>
      found({ operator: 'AND', conditions: values.map((value) => ({ key: 'preference.002', value })) });
    expect(namesOf(await by('Drama'))).toEqual(['emil']);
    expect(namesOf(await by('Drama', 'Dance'))).toEqual(['emil']);
    expect((await by('Drama', 'Dance')).values[0]?.records).toHaveLength(1);
    for (const value of ['Drama,Dance', 'drama', 'Dra', 'D.*']) expect(namesOf(await by(value))).toEqual([]);
  });

  it('equals a filter over all answers, for any answers and conditions', async () => {
    const keys = (await elements(3)).map(({ key }) => key);
    const values = ['accepted', 'refused'];
    const subjects = Array.from({ length: 12 }, (_, index) => `p${index}`);
    const answers = new Map<string, Record<string, string>>();
    for (const [index, subject] of subjects.entries()) {
      // Every combination of accepted, refused and not asked appears.
      const given = keys.flatMap((key, place) => {
        const value = [...values, undefined][Math.floor((index * 7) / 3 ** place) % 3];
        return value ? [[key, value] as const] : [];
      });
      if (given.length === 0) continue;
      answers.set(subject, Object.fromEntries(given));
      await recordAnswers(
        operator,
        subject,
        Object.fromEntries(given.map(([key, value]) => [identifierOf(key), [value]])),
      );
    }
    const condition = fc.record({ key: fc.constantFrom(...keys), value: fc.constantFrom(...values) });
    const query = fc.record({
      operator: fc.constantFrom('AND', 'OR'),
      conditions: fc.array(condition, { minLength: 1, maxLength: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(query, fc.integer({ min: 1, max: 5 }), async (asked, limit) => {
        const isMet = (given: Record<string, string>) => (one: { key: string; value: string }) =>
          given[one.key] === one.value;
        const expected = [...answers].flatMap(([subject, given]) =>
          (
            asked.operator === 'AND'
              ? asked.conditions.every(isMet(given))
              : asked.conditions.some(isMet(given))
          )
            ? [subject]
            : [],
        );
        const names: string[] = [];
        for (let cursor = ''; ; ) {
          const page = await found(asked, `?limit=${limit}${cursor}`);
          names.push(...namesOf(page));
          if (!page.next) break;
          cursor = `&cursor=${page.next}`;
        }
        expect(names).toEqual(expected.reverse());
        const numbered = await found({ ...asked, page: 0, size: limit });
        expect(namesOf(numbered)).toEqual(names.slice(0, limit));
        expect(numbered.totalCount).toBe(names.length);
      }),
      { numRuns: 40 },
    );
  });
});

describe('a numbered page of an extraction', () => {
  it('has totals for one and for several conditions', async () => {
    const key = (await elements(1))[0]?.key ?? '';
    for (const subject of ['n1', 'n2', 'n3', 'n4', 'n5'])
      await recordAnswers(operator, subject, { [identifierOf(key)]: ['accepted'] });
    const condition = { key, value: 'accepted' };
    for (const asked of [{ condition }, { operator: 'AND', conditions: [condition] }]) {
      const second = await found({ ...asked, page: 1, size: 2 });
      expect(namesOf(second)).toEqual(['n3', 'n2']);
      expect(second).toMatchObject({ page: 1, pageSize: 2, totalPages: 3, totalCount: 5 });
      expect(second).not.toHaveProperty('next');
      expect(await found({ ...asked, size: 500 })).toMatchObject({ page: 0, pageSize: 200, totalCount: 5 });
      expect(await found({ ...asked, page: 9 })).toMatchObject({ values: [], pageSize: 50, totalCount: 5 });
    }
  });
});

describe('an extraction by several conditions as CSV', () => {
  it('has a line for each record, under the same header, with the next page in Link', async () => {
    const keys = (await elements(2)).map(({ key }) => key);
    const given = Object.fromEntries(keys.map((key) => [identifierOf(key), ['accepted']]));
    for (const subject of ['c1', 'c2']) await recordAnswers(operator, subject, given);
    const conditions = keys.map((key) => ({ key, value: 'accepted' }));
    const answer = await extract({ operator: 'OR', conditions }, '?limit=1', { Accept: 'text/csv' });
    const [header, ...rows] = (await answer.text()).trim().split('\r\n');
    expect(header).toMatch(/^subjectName,emailAddress,key,serial,value,object,/);
    expect(rows.map((row) => row.split(',')[0])).toEqual(['c2', 'c2']);
    expect(answer.headers.get('link')).toMatch(/; rel="next"$/);
    const numbered = await extract({ operator: 'OR', conditions, page: 1, size: 1 }, '', {
      Accept: 'text/csv',
    });
    const [sameHeader, ...older] = (await numbered.text()).trim().split('\r\n');
    expect(sameHeader).toBe(header);
    expect(older.map((row) => row.split(',')[0])).toEqual(['c1', 'c1']);
    expect(numbered.headers.has('link')).toBe(false);
  });
});

describe('an extraction that cannot be done', () => {
  const one = { key: 'processing.001', value: 'accepted' };
  it.each([
    [
      'a regular expression first',
      { conditions: [{ ...one, regexpValue: true }] },
      '/conditions/0/regexpValue',
    ],
    [
      'a regular expression',
      { conditions: [one, { ...one, regexpValue: true }] },
      '/conditions/1/regexpValue',
    ],
    ['a regular expression alone', { condition: { ...one, regexpValue: true } }, '/condition/regexpValue'],
    ['another operator', { operator: 'XOR', conditions: [one] }, '/operator'],
    ['no condition', { operator: 'AND', conditions: [] }, '/conditions'],
    ['too many conditions', { conditions: Array.from({ length: 21 }, () => one) }, '/conditions'],
    ['both forms', { condition: one, conditions: [one] }, '/conditions'],
  ])('says where (%s)', async (_what, body, pointer) => {
    const refused = await extract(body);
    expect(refused.status).toBe(422);
    const { errors } = (await refused.json()) as { errors: { pointer: string }[] };
    expect(errors.map((error) => error.pointer)).toEqual([pointer]);
  });

  it.each([
    [{ operator: 'AND' }],
    [{ conditions: [{ key: 'x' }] }],
    [{ conditions: [{ value: 'x' }] }],
    [{ conditions: one }],
    [{ conditions: [one], page: -1 }],
    [{ conditions: [one], page: 1.5 }],
    [{ conditions: [one], page: '1' }],
    [{ conditions: [one], page: 1_000_000_001 }],
    [{ conditions: [one], size: 0 }],
    [{ conditions: [{ ...one, regexpValue: 'true' }] }],
    [{ conditions: [{ ...one, serail: '1.0' }] }],
  ])('is malformed: %j', async (body) => {
    expect((await extract(body)).status).toBe(400);
  });

  it('is forbidden for users', async () => {
    const user = await signIn(instance, 'user');
    expect((await user.send('POST', '/records/extraction', { conditions: [one] })).status).toBe(403);
  });
});
