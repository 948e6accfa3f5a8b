import { describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { runInDatabase } from '../support/instances/live-database.ts';
import { activateContent, makeLiveModel } from '../support/instances/live-models.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

type Extraction = components['schemas']['ExtractionResult'];

const instance = useInstance();
const operator = useSetup(() => signIn(instance, 'operator'));
const admin = useSetup(() => signIn(instance, 'admin'));

const letter = 'element/processing/processing.001/1.0';
const interests = 'element/preference/preference.002/1.0';
const wishes = 'element/preference/preference.003/1.0';
const newsletter = { condition: { key: 'processing.001', value: 'accepted' } };

const extract = (body: object, query = '', headers = {}) =>
  operator.send('POST', `/records/extraction${query}`, body, headers);
const found = async (key: string, value: string, query = '') =>
  (await (await extract({ condition: { key, value } }, query)).json()) as Extraction;
const namesOf = ({ values }: Extraction) => values.map(({ subjectName }) => subjectName);
const csvOf = async (key: string, value: string, query = '') => {
  const answer = await extract({ condition: { key, value } }, query, { Accept: 'text/csv' });
  expect(answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  return answer;
};

describe('an extraction', () => {
  it('has the subjects with a valid answer, newest first, with address and record', async () => {
    const subjectInfos = { emailAddress: 'ann@example.org' };
    const made = await recordAnswers(operator, 'ann', { [letter]: ['accepted'] }, { subjectInfos });
    await recordAnswers(operator, 'ben', { [letter]: ['refused'] });
    await recordAnswers(operator, 'cleo', { [letter]: ['accepted'] });
    await recordAnswers(operator, 'cleo', { [letter]: ['refused'] });
    await recordAnswers(operator, 'dora', { [letter]: ['accepted'] });
    const accepted = await found('processing.001', 'accepted');
    expect(namesOf(accepted)).toEqual(['dora', 'ann']);
    expect(accepted).not.toHaveProperty('next');
    expect(accepted.values[0]).not.toHaveProperty('emailAddress');
    expect(accepted.values[1]).toMatchObject({
      emailAddress: 'ann@example.org',
      record: { subject: 'ann', value: 'accepted', status: 'VALID', transaction: made.id },
    });
    expect(namesOf(await found('processing.001', 'refused'))).toEqual(['cleo', 'ben']);
    expect(await found('processing.001', 'maybe')).toEqual({ values: [] });
    expect(await found('no.such.element', 'accepted')).toEqual({ values: [] });
  });

  it('finds an answer among several, and one for each object', async () => {
    await recordAnswers(operator, 'emil', { [interests]: ['Drama', 'Dance'] }, { object: 'Mia' });
    await recordAnswers(operator, 'emil', { [interests]: ['Dance'] }, { object: 'Tom' });
    const dance = await found('preference.002', 'Dance');
    expect(dance.values.map(({ record }) => record.object)).toEqual(['Tom', 'Mia']);
    expect((await found('preference.002', 'Drama')).values).toHaveLength(1);
    expect((await found('preference.002', 'Drama,Dance')).values).toHaveLength(0);
  });

  it('finds an answer in any Unicode normalisation, as it is recorded', async () => {
    await recordAnswers(operator, 'nina', { 'element/preference/preference.003/1.0': ['Café'] });
    for (const value of ['Café', 'Cafe\u0301', ' Café '])
      expect(namesOf(await found('preference.003', value))).toEqual(['nina']);
  });

  it('leaves out answers to outdated versions', async () => {
    const content = { en: sampleContent.processing };
    const element = await makeLiveModel(admin, 'processing', content);
    await recordAnswers(operator, 'fay', { [`element/processing/${element.key}/1.0`]: ['accepted'] });
    expect(namesOf(await found(element.key, 'accepted'))).toEqual(['fay']);
    await activateContent(admin, element, content, 'MAJOR');
    expect(namesOf(await found(element.key, 'accepted'))).toEqual([]);
  });

  it('has pages that new answers do not change', async () => {
    const content = { en: sampleContent.processing };
    const { key, ...element } = await makeLiveModel(admin, 'processing', content);
    const say = (subject: string, serial: string) =>
      recordAnswers(operator, subject, { [`element/processing/${key}/${serial}`]: ['accepted'] });
    await say('old', '1.0');
    await activateContent(admin, { key, ...element }, content, 'MAJOR');
    for (const subject of ['p1', 'p2', 'p3', 'p4']) await say(subject, '2.0');
    const first = await found(key, 'accepted', '?limit=2');
    expect(namesOf(first)).toEqual(['p4', 'p3']);
    await say('p5', '2.0');
    const second = await found(key, 'accepted', `?limit=2&cursor=${first.next}`);
    expect(namesOf(second)).toEqual(['p2', 'p1']);
    expect(second).not.toHaveProperty('next');
    const page = await csvOf(key, 'accepted', '?limit=2');
    const next = page.headers.get('link')?.match(/^<(.+)>; rel="next"$/)?.[1] ?? '';
    const more = await operator.send(
      'POST',
      next,
      { condition: { key, value: 'accepted' } },
      { Accept: 'text/csv' },
    );
    expect((await more.text()).split('\r\n')[1]).toMatch(/^p3,/);
  });

  it('finds few valid answers among many others', async () => {
    const content = { en: sampleContent.processing };
    const element = await makeLiveModel(admin, 'processing', content);
    const name = (serial: string) => `element/processing/${element.key}/${serial}`;
    await recordAnswers(operator, 'before', { [name('1.0')]: ['accepted'] });
    await activateContent(admin, element, content, 'MAJOR');
    await recordAnswers(operator, 'after', { [name('2.0')]: ['accepted'] });
    await runInDatabase(
      instance,
      `INSERT INTO transactions.records
       SELECT (r).* FROM (SELECT jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'subject', 'many ' || n,
                'created_at', r.created_at + interval '1 h')) AS r
                FROM transactions.records AS r CROSS JOIN generate_series(1, 450) AS n
               WHERE r.subject = 'before') AS copies`,
    );
    expect(namesOf(await found(element.key, 'accepted', '?limit=1'))).toEqual(['after']);
  });

  it.each(['?cursor=garbled', '?cursor=', '?limit=0', '?limit=201'])('refuses %s', async (query) => {
    expect((await extract(newsletter, query)).status).toBe(400);
  });

  it.each([
    {},
    { condition: {} },
    { condition: { key: 'processing.001' } },
    { condition: { key: 1, value: 'x' } },
    [],
  ])('needs an element and an answer: %j is refused', async (body) => {
    expect((await extract(body)).status).toBe(400);
  });

  it('is JSON or CSV, for operators and keys, not for users', async () => {
    const key = await createKey(instance);
    expect((await key.send('POST', '/records/extraction', newsletter)).status).toBe(200);
    const user = await signIn(instance, 'user');
    expect((await user.send('POST', '/records/extraction', newsletter)).status).toBe(403);
    const both = await extract(newsletter, '', { Accept: 'text/csv;q=0.5, application/json' });
    expect(both.headers.get('content-type')).toMatch(/^application\/json/);
    expect((await extract(newsletter, '', { Accept: 'application/pdf' })).status).toBe(406);
  });
});

describe('an extraction as CSV', () => {
  const rowsOf = async (value: string) => (await (await csvOf('preference.003', value)).text()).split('\r\n');
  const say = (subject: string, wish: string, context = {}) =>
    recordAnswers(operator, subject, { [wishes]: [wish] }, context);

  it('has a line for each record under a header, and times in milliseconds', async () => {
    const subjectInfos = { emailAddress: 'g@example.org' };
    const { id } = await say('gus', 'An aisle seat', { subjectInfos, object: 'Row 7', author: 'Counter 3' });
    const [header, row, end, ...more] = await rowsOf('An aisle seat');
    expect(header).toBe(
      'subjectName,emailAddress,key,serial,value,object,creationTimestamp,expirationTimestamp,origin,author,transaction,leaderLocation,leaderId',
    );
    expect(row).toMatch(
      /^gus,g@example\.org,preference\.003,1\.0,An aisle seat,Row 7,\d{13},\d{13},WEBFORM,Counter 3,/,
    );
    expect(row?.split(',').slice(-3)).toEqual([id, '', '']);
    expect([end, ...more]).toEqual(['']);
  });

  it('has only the header if there is no match', async () => {
    expect(await rowsOf('Nobody wishes that')).toHaveLength(2);
  });

  it.each([
    ['a comma', 'Row 7, seat 8', '"Row 7, seat 8"'],
    ['quotes', 'the "royal" box', '"the ""royal"" box"'],
    ['Arabic', 'مقعد بجانب الممر', 'مقعد بجانب الممر'],
    ['a formula', '=HYPERLINK("https://evil.example")', '"\'=HYPERLINK(""https://evil.example"")"'],
    ['a plus', '+33 1 23', "'+33 1 23"],
    ['a minus', '-2+3', "'-2+3"],
    ['an at sign', '@SUM(A1)', "'@SUM(A1)"],
    ['a full-width equals sign', '＝1+1', "'＝1+1"],
    ['a formula after a semicolon', 'a;=1+1', "a;'=1+1"],
    ['a formula after a comma and quotes', 'a,"=1"', '"a,""\'=1"""'],
    ['a formula after a tab', 'a\t@SUM(A1)', "a\t'@SUM(A1)"],
    ['a hyphen between words', 'Letters - weekly', 'Letters - weekly'],
  ])('writes %s so that a spreadsheet reads the text', async (name, wish, cell) => {
    await say(name, wish);
    const [, row] = await rowsOf(wish);
    expect(row?.startsWith(`${name},,preference.003,1.0,${cell},,`)).toBe(true);
  });

  it('writes an answer of two lines as one cell', async () => {
    await say('hope', 'One\r\nTwo');
    const text = await (await csvOf('preference.003', 'One\nTwo')).text();
    expect(text).toContain('hope,,preference.003,1.0,"One\nTwo",,');
  });

  it('divides several options by commas, or by line breaks if any option of the question has a comma', async () => {
    const ask = async (options: string[]) => {
      const content = { label: 'How?', options, valueType: 'CHECKBOXES' };
      const { key } = await makeLiveModel(admin, 'preference', { en: content });
      return async (subject: string, chosen: [string, ...string[]]) => {
        await recordAnswers(operator, subject, { [`element/preference/${key}/1.0`]: chosen });
        const text = await (await csvOf(key, chosen[0])).text();
        const start = `${subject},,${key},1.0,`;
        return text.slice(text.indexOf(start) + start.length).split(',,')[0];
      };
    };
    const withComma = await ask(['post', 'parcel', 'post,parcel']);
    expect(await withComma('comma', ['post,parcel'])).toBe('"post,parcel"');
    expect(await withComma('two', ['post', 'parcel'])).toBe('"post\nparcel"');
    expect(await withComma('three', ['parcel', 'post,parcel'])).toBe('"parcel\npost,parcel"');
    expect(await withComma('single', ['post'])).toBe('post');
    const without = await ask(['post', 'parcel']);
    expect(await without('usual', ['post', 'parcel'])).toBe('"post,parcel"');
  });

  it('writes a formula as a name or object just as harmlessly', async () => {
    await say('=cmd|calc', 'Harmless', { object: '@here' });
    expect((await rowsOf('Harmless'))[1]).toMatch(/^'=cmd\|calc,,preference\.003,1\.0,Harmless,'@here,/);
  });
});
