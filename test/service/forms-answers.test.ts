import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AnswerCheck, PinnedLayout } from '#lib/contracts/forms.ts';
import { sql } from '#lib/db/sql.ts';
import { type FormsService, startForms } from '../support/instances/forms-service.ts';
import { makeActive, makeDraft, sampleContent, setStatus } from '../support/samples/forms-models.ts';

let forms: FormsService;
beforeAll(async () => {
  forms = await startForms({ demo: true });
});
afterAll(() => forms.stop());

const info = 'element/information/information.001/1.0';
const letter = 'element/processing/processing.001/1.0';
const study = 'element/processing/processing.002/1.0';
const booking = 'element/processing/processing.003/1.0';
const often = 'element/preference/preference.001/1.0';
const interests = 'element/preference/preference.002/1.0';
const wishes = 'element/preference/preference.003/1.0';
const terms = 'element/conditions/conditions.001/1.0';

type Answers = Record<string, string[]>;
type Options = { form?: boolean; hidden?: string[]; languages?: string[]; openedAt?: Date };

const all = ['processing.001', 'processing.002', 'preference.001', 'preference.002', 'preference.003'];
const complete: Answers = {
  [letter]: ['accepted'],
  [study]: ['refused'],
  [often]: ['Every week'],
  [interests]: [],
};

async function layoutOf(elements: string[], more = {}): Promise<PinnedLayout> {
  return (await forms.operations.resolveLayout({ layoutData: { elements, ...more } })).layout;
}

async function check(elements: string[] | PinnedLayout, answers: Answers, options: Options = {}) {
  const { form = false, hidden = [], languages = ['en'], openedAt = new Date() } = options;
  const layout = Array.isArray(elements) ? await layoutOf(elements) : elements;
  const at = openedAt.toISOString();
  const input = { layout, answers, form, hidden, languages, openedAt: at, givenAt: at, sealUntil: at };
  return forms.operations.checkAnswers(input);
}

const faultsOf = (result: AnswerCheck) =>
  result.outcome === 'invalid'
    ? result.faults.map(({ pointer, code }) => `${pointer.replaceAll('~1', '/').slice(1)} ${code}`)
    : result.outcome;
const valuesOf = (result: AnswerCheck) =>
  result.outcome === 'valid'
    ? Object.fromEntries(result.answers.map(({ identifier, value }) => [identifier, value]))
    : result;

describe('a complete answers map', () => {
  it('is accepted, and returns the answers in layout order with the content shown', async () => {
    const result = await check(all, { info: [info], ...complete, [wishes]: ['  A seat\r\nnear you  '] });
    expect(result).toMatchObject({ outcome: 'valid', language: 'en', info: { identifier: info } });
    if (result.outcome !== 'valid') return;
    expect(result.answers.map(({ key }) => key)).toEqual(all);
    expect(result.answers[0]).toMatchObject({
      identifier: letter,
      type: 'processing',
      key: 'processing.001',
      serial: '1.0',
      value: ['accepted'],
      positions: [0],
      options: ['accepted', 'refused'],
      content: { lang: 'en', title: 'The programme letter' },
    });
    expect(result.answers[2]).toMatchObject({ value: ['Every week'], positions: [0] });
    expect(result.answers[3]).toMatchObject({ value: [], positions: [] });
    expect(result.answers[4]).toMatchObject({ value: ['A seat\nnear you'], positions: null, options: null });
  });

  it('may use option texts of any language; the displayed language is recorded', async () => {
    const answers = { ...complete, [often]: ['مرة في الشهر'], [interests]: ['Danse', 'Drama'] };
    const result = await check(all, answers, { languages: ['fr-CA'] });
    expect(valuesOf(result)).toMatchObject({
      [often]: ['Une fois par mois'],
      [interests]: ['Théâtre', 'Danse'],
    });
  });

  it('may use the identifier prefix of a later generation', async () => {
    const answers = { [`bloc/1/${letter}`]: ['accepted'], [`bloc/x.y/${study}`]: ['refused'] };
    expect(await check(['processing.001', 'processing.002'], answers)).toMatchObject({ outcome: 'valid' });
  });

  it('may have a comment and omit optional questions', async () => {
    const answers = { [letter]: ['accepted'], comment: ['By telephone'] };
    const result = await check(['processing.001', 'preference.003'], answers);
    expect(valuesOf(result)).toEqual({ [letter]: ['accepted'] });
  });

  it('for conditions contains one decision', async () => {
    expect(valuesOf(await check(['conditions.001'], { [terms]: ['refused'] }))).toEqual({
      [terms]: ['refused'],
    });
  });
});

describe('a wrong answer', () => {
  it.each<[string, Answers, string[]]>([
    ['missing', { [letter]: undefined as never }, [`${letter} invalid-text`, `${letter} required`]],
    ['empty', { [letter]: [] }, [`${letter} required`]],
    ['two for one', { [letter]: ['accepted', 'refused'] }, [`${letter} too-many`]],
    ['the same twice', { [letter]: ['accepted', 'accepted'] }, [`${letter} too-many`]],
    ['no decision', { [letter]: ['yes'] }, [`${letter} not-an-option`]],
    ['another case', { [letter]: ['Accepted'] }, [`${letter} not-an-option`]],
    ['no option', { [often]: ['Every hour'] }, [`${often} not-an-option`]],
    ['an option twice', { [interests]: ['Dance', 'Danse'] }, [`${interests} too-many`]],
    ['4,001 characters', { [wishes]: ['é'.repeat(4_001)] }, [`${wishes} too-long`]],
    ['4,001 emoji', { [wishes]: ['😀'.repeat(4_001)] }, [`${wishes} too-long`]],
    ['a lone surrogate', { [wishes]: ['\ud800'] }, [`${wishes} invalid-text`]],
    ['a NUL', { [wishes]: ['a\0'] }, [`${wishes} invalid-text`]],
    ['a number', { [wishes]: [7 as never] }, [`${wishes} invalid-text`]],
    ['no list', { [wishes]: 'text' as never }, [`${wishes} invalid-text`]],
    ['an unknown name', { other: ['x'] }, ['other unknown-element']],
    ['an element of no form', { [booking]: ['accepted'] }, [`${booking} unknown-element`]],
    [
      'a serial that never was',
      { [letter.replace('1.0', '7.0')]: ['accepted'] },
      [`${letter.replace('1.0', '7.0')} unknown-element`],
    ],
    [
      'a serial that is none',
      { [letter.replace('1.0', '01.x')]: ['accepted'] },
      [`${letter.replace('1.0', '01.x')} unknown-element`],
    ],
    [
      'a wrong type',
      { 'element/preference/processing.001/1.0': ['accepted'] },
      ['element/preference/processing.001/1.0 unknown-element'],
    ],
    ['an element twice', { [`bloc/a/${letter}`]: ['refused'] }, [`bloc/a/${letter} too-many`]],
    ['information of another form', { info: ['element/information/other/1.0'] }, ['info unknown-element']],
    ['information that is none', { info: [letter] }, ['info unknown-element']],
    ['two informations', { info: [info, info] }, ['info invalid']],
    ['a comment twice', { comment: ['a', 'b'] }, ['comment too-many']],
    ['a comment too long', { comment: ['x'.repeat(4_001)] }, ['comment too-long']],
    ['a button in JSON', { 'accord-action': ['accept-all'] }, ['accord-action unknown-element']],
  ])('(%s) is reported with a pointer', async (_what, wrong, faults) => {
    expect(faultsOf(await check(all, { ...complete, ...wrong }))).toEqual(faults);
  });

  it('is reported together with all other faults', async () => {
    const faults = faultsOf(await check(all, { [letter]: ['maybe'], [often]: ['Never'] }));
    expect(faults).toEqual([
      `${letter} not-an-option`,
      `${study} required`,
      `${often} not-an-option`,
      `${interests} required`,
    ]);
  });

  it('(refusing a mandatory element) is reported with a pointer', async () => {
    expect(faultsOf(await check(['processing.003'], { [booking]: ['refused'] }))).toEqual([
      `${booking} not-refusable`,
    ]);
  });

  it('in a map of 201 entries is rejected without reading the entries', async () => {
    const many = Object.fromEntries(Array.from({ length: 201 }, (_, n) => [`x${n}`, ['y']]));
    expect(faultsOf(await check(all, many))).toEqual([' too-many']);
  });

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty'])(
    'called %s is unknown',
    async (name) => {
      const answers: Answers = Object.assign(Object.create(null), complete);
      Object.defineProperty(answers, name, { value: ['x'], enumerable: true });
      expect(faultsOf(await check(all, answers))).toEqual([`${name} unknown-element`]);
      const element = `element/processing/${name}/1.0`;
      expect(faultsOf(await check(all, { ...complete, [element]: ['accepted'] }))).toEqual([
        `${element} unknown-element`,
      ]);
    },
  );

  it('with an empty text counts as no answer', async () => {
    expect(faultsOf(await check(all, { ...complete, [letter]: [' \r\n'] }))).toEqual([`${letter} required`]);
    expect(valuesOf(await check(['preference.003'], { [wishes]: [''] }))).toEqual({});
  });

  it('of exactly 4,000 characters is accepted', async () => {
    const text = '😀'.repeat(4_000);
    expect(valuesOf(await check(['preference.003'], { [wishes]: [text] }))).toEqual({ [wishes]: [text] });
  });
});

describe('a form post', () => {
  const shown = { info: [info], 'accord-shown': [letter, study, often, interests, wishes] };

  it('without a ticked box chooses no option', async () => {
    const { [interests]: _, ...posted } = complete;
    expect(valuesOf(await check(all, { ...shown, ...posted, [wishes]: [''] }, { form: true }))).toEqual(
      complete,
    );
    expect(valuesOf(await check(all, { info: [info], ...posted }, { form: true }))).toEqual(complete);
  });

  it('contains the identifier of the displayed information', async () => {
    expect(faultsOf(await check(all, complete, { form: true }))).toEqual(['info required']);
  });

  it('with accept-all accepts every element that can be refused, overriding its choice, and keeps preferences other than toggles', async () => {
    const posted = {
      ...shown,
      'accord-action': ['accept-all'],
      [letter]: ['refused'],
      [often]: ['Every week'],
    };
    expect(valuesOf(await check(all, posted, { form: true }))).toEqual({
      ...complete,
      [letter]: ['accepted'],
      [study]: ['accepted'],
    });
  });

  it('with refuse-all refuses every refusable element and records displayed notices', async () => {
    const posted = { info: [info], 'accord-action': ['refuse-all'] };
    const elements = ['processing.001', 'processing.002'];
    expect(valuesOf(await check(elements, posted, { form: true }))).toEqual({
      [letter]: ['refused'],
      [study]: ['refused'],
    });
    const withBooking = await check(['processing.001', 'processing.003'], posted, { form: true });
    expect(valuesOf(withBooking)).toEqual({ [letter]: ['refused'], [booking]: ['accepted'] });
  });

  it('with refuse-all does not answer elements that the page did not show', async () => {
    const posted = { info: [info], 'accord-shown': [letter], 'accord-action': ['refuse-all'] };
    const result = await check(['processing.001', 'processing.002', 'preference.002'], posted, {
      form: true,
    });
    expect(faultsOf(result)).toEqual([`${study} required`, `${interests} required`]);
  });

  it('with accept-all does not answer hidden elements', async () => {
    const posted = { info: [info], 'accord-action': ['accept-all'] };
    const hidden = ['processing.002'];
    const result = await check(['processing.001', 'processing.002'], posted, { form: true, hidden });
    expect(valuesOf(result)).toEqual({ [letter]: ['accepted'] });
  });

  it('is accepted without answers if all elements are hidden', async () => {
    expect(valuesOf(await check(all, { info: [info] }, { form: true, hidden: all }))).toEqual({});
  });
});

describe('serials', () => {
  /** An element with a history: 1.0, then what `kinds` say, one after the other. */
  async function elementWith(...kinds: ('MAJOR' | 'MINOR')[]) {
    const made = await makeActive(forms, 'preference', sampleContent.preference);
    for (const kind of kinds) await nextVersion(made.id, kind);
    return { ...made, at: (serial: string) => `element/preference/${made.key}/${serial}` };
  }
  async function nextVersion(id: string, kind: 'MAJOR' | 'MINOR', change = {}) {
    const draft = await makeDraft(forms, id, { en: { ...sampleContent.preference, ...change } }, kind);
    expect((await setStatus(forms, id, draft, 'ACTIVE')).status).toBe(200);
    return draft;
  }
  const before = new Date(Date.now() - 60_000);

  it('of the ACTIVE MAJOR are accepted and recorded if they were ACTIVE after the transaction began', async () => {
    const { id, key, at } = await elementWith();
    await nextVersion(id, 'MINOR', { options: ['Each day', 'Weekly', 'Never', 'Monthly'] });
    const seen = await check([key], { [at('1.0')]: ['Daily'] }, { openedAt: before });
    expect(seen).toMatchObject({
      outcome: 'valid',
      answers: [{ serial: '1.0', value: ['Daily'], positions: [0] }],
    });
    // The texts of the serial that was seen, not those of the ACTIVE one.
    expect(faultsOf(await check([key], { [at('1.0')]: ['Monthly'] }, { openedAt: before }))).toEqual([
      `${at('1.0')} not-an-option`,
    ]);
    expect(valuesOf(await check([key], { [at('1.1')]: ['Monthly'] }))).toEqual({ [at('1.1')]: ['Monthly'] });
  });

  it('that were archived before the transaction began are stale', async () => {
    const { key, at } = await elementWith('MINOR');
    const result = await check([key], { [at('1.0')]: ['Daily'] }, { openedAt: new Date(Date.now() + 1_000) });
    expect(result).toEqual({ outcome: 'stale', stale: [at('1.0')] });
  });

  it('of an older MAJOR are stale, even right after the change', async () => {
    const { key, at } = await elementWith('MAJOR');
    const answers = { [at('1.0')]: ['Daily'], other: ['x'] };
    expect(await check([key], answers, { openedAt: before })).toEqual({
      outcome: 'stale',
      stale: [at('1.0')],
    });
  });

  it('of displayed elements can be stale even if the browser sent no answer to them', async () => {
    const boxes = { ...sampleContent.preference, valueType: 'CHECKBOXES' };
    const { id, key } = await makeActive(forms, 'preference', boxes);
    await nextVersion(id, 'MAJOR', { valueType: 'CHECKBOXES', options: ['To be sold', 'Not'] });
    const shown = `element/preference/${key}/1.0`;
    const posted = { info: [info], 'accord-shown': [shown] };
    expect(await check([key], posted, { form: true, openedAt: before })).toEqual({
      outcome: 'stale',
      stale: [shown],
    });
  });

  it('of withdrawn elements are stale; the other elements can be answered', async () => {
    const { id, key, version, at } = await elementWith();
    const layout = await layoutOf(['processing.001', key]);
    await setStatus(forms, id, version, 'ARCHIVED');
    const answers = { [letter]: ['accepted'], [at('1.0')]: ['Daily'] };
    expect(await check(layout, answers, { openedAt: before })).toEqual({
      outcome: 'stale',
      stale: [at('1.0')],
    });
    expect(valuesOf(await check(layout, { [letter]: ['accepted'] }))).toEqual({ [letter]: ['accepted'] });
  });

  it('of the information follow the same rules', async () => {
    const { id, key } = await makeActive(forms, 'information', sampleContent.information);
    const layout = await layoutOf(['processing.001'], { info: key });
    const answers = { info: [`element/information/${key}/1.0`], [letter]: ['accepted'] };
    const draft = await makeDraft(forms, id, { en: { title: 'Reworded' } });
    await setStatus(forms, id, draft, 'ACTIVE');
    expect(await check(layout, answers, { openedAt: before })).toMatchObject({
      outcome: 'valid',
      info: { serial: '1.0' },
    });
    expect(await check(layout, { [letter]: ['accepted'] })).toMatchObject({
      outcome: 'valid',
      info: { serial: '1.1' },
    });
    const major = await makeDraft(forms, id, { en: { title: 'Another' } }, 'MAJOR');
    await setStatus(forms, id, major, 'ACTIVE');
    expect(await check(layout, answers, { openedAt: before })).toMatchObject({ outcome: 'stale' });
  });

  it('end the form when all elements or the information are withdrawn', async () => {
    const { id, key, version } = await elementWith();
    const other = await makeActive(forms, 'information', sampleContent.information);
    const layout = await layoutOf([key]);
    const withOther = await layoutOf(['processing.001'], { info: other.key });
    await setStatus(forms, id, version, 'ARCHIVED');
    await setStatus(forms, other.id, other.version, 'ARCHIVED');
    for (const each of [layout, withOther]) {
      await expect(check(each, {})).rejects.toMatchObject({ code: 'withdrawn' });
      await expect(forms.operations.describeForm({ layout: each, languages: [] })).rejects.toMatchObject({
        code: 'withdrawn',
      });
    }
  });
});

describe('the first valid answers', () => {
  it('mark their entries, so that deleting keeps them; invalid answers mark no entry', async () => {
    const { key } = await makeActive(forms, 'processing', sampleContent.processing);
    const isMarked = async () =>
      (
        await forms.db.one<{ answered: boolean }>(
          sql`SELECT m.answered FROM models AS m WHERE m.key = ${key}`,
        )
      ).answered;
    await check([key], { [`element/processing/${key}/1.0`]: ['perhaps'] });
    expect(await isMarked()).toBe(false);
    await check([key], { [`element/processing/${key}/1.0`]: ['refused'] });
    expect(await isMarked()).toBe(true);
  });

  it('are not recorded for an entry that is removed concurrently', async () => {
    for (let round = 0; round < 5; round += 1) {
      const { id, key } = await makeActive(forms, 'processing', sampleContent.processing);
      const layout = await layoutOf([key]);
      const [removed, checked] = await Promise.all([
        forms.send(`/models/${id}`, { method: 'DELETE' }),
        check(layout, { [`element/processing/${key}/1.0`]: ['accepted'] }).catch((error) => error),
      ]);
      expect(removed.status).toBe(204);
      const entry = await forms.send(`/models/${id}`);
      if (checked.outcome === 'valid') expect((await entry.json()).status).toBe('DELETED');
      else expect(checked.code).toBe('withdrawn');
    }
  });
});
