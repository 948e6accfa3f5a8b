import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type AnswerableForm, checkAnswers } from '../../services/forms/domain/check-answers.ts';
import { createContentVersion } from '../../services/forms/domain/content-version.ts';
import type { ModelType } from '../../services/forms/domain/model.ts';
import { readAnswers } from '../../services/forms/domain/read-answers.ts';

const single = ['TOGGLE', 'RADIO_BUTTONS', 'LIST_SINGLE'] as const;
const several = ['CHECKBOXES', 'LIST_MULTI'] as const;

/** An element of any kind, in two languages with different texts. */
const element = fc
  .record({
    type: fc.constantFrom<ModelType>('processing', 'conditions', 'preference'),
    valueType: fc.constantFrom(...single, ...several, 'FREE_TEXT' as const),
    refusable: fc.boolean(),
    optional: fc.boolean(),
    options: fc.integer({ min: 2, max: 6 }),
  })
  .map(({ type, valueType, refusable, optional, options }) => {
    if (type !== 'preference') return { type, contents: { en: { refusable }, fr: { refusable } } };
    const inLanguage = (name: string) => ({
      valueType,
      optional,
      ...(valueType !== 'FREE_TEXT' && {
        options: Array.from({ length: options }, (_, n) => `${name} ${n}`),
      }),
    });
    return { type, contents: { en: inLanguage('option'), fr: inLanguage('choix') } };
  });
type Element = { type: ModelType; contents: Record<'en' | 'fr', Record<string, unknown>> };

function versionOf({ type, contents }: Element, key: string) {
  return createContentVersion({
    id: key,
    type,
    key,
    serial: '1.0',
    defaultLanguage: 'en',
    data: structuredClone(contents),
  });
}

function formOf(elements: Element[], more: Partial<AnswerableForm> = {}): AnswerableForm {
  const keys = elements.map((_, index) => `key.${index}`);
  const info = versionOf({ type: 'information', contents: { en: {}, fr: {} } }, 'info');
  return {
    keys,
    info: { version: info, name: 'info' },
    elements: new Map(
      elements.map((each, index) => [
        `key.${index}`,
        { version: versionOf(each, `key.${index}`), name: 'x' },
      ]),
    ),
    former: new Map(),
    hidden: new Set(),
    language: 'en',
    isFormPost: false,
    ...more,
  };
}

const nameOf = ({ type }: Element, index: number) => `element/${type}/key.${index}/1.0`;
const check = (answers: Record<string, unknown>, form: AnswerableForm) =>
  checkAnswers(readAnswers(answers as Record<string, string[]>, form.isFormPost), form);

/** A right answer to an element, in either language. */
function rightAnswer({ type, contents }: Element) {
  const {
    refusable,
    valueType,
    options = [],
  } = contents.en as { refusable: boolean; valueType: string; options: string[] };
  if (type !== 'preference')
    return fc.constantFrom(...(refusable ? ['accepted', 'refused'] : ['accepted'])).map((one) => [one]);
  if (valueType === 'FREE_TEXT')
    return fc
      .string({ minLength: 1, maxLength: 50, unit: 'grapheme' })
      .filter((text) => text.trim() !== '')
      .map((text) => [text]);
  const pick = fc.tuple(fc.nat(options.length - 1), fc.constantFrom('en' as const, 'fr' as const));
  const text = ([position, language]: [number, 'en' | 'fr']) =>
    (contents[language].options as string[])[position] as string;
  if ((several as readonly string[]).includes(valueType))
    return fc.uniqueArray(pick, { selector: ([position]) => position }).map((picks) => picks.map(text));
  return pick.map((one) => [text(one)]);
}

const answered = fc
  .array(element, { minLength: 1, maxLength: 6 })
  .chain((elements) =>
    fc.tuple(
      fc.constant(elements as Element[]),
      fc.tuple(...elements.map((each) => rightAnswer(each as Element))),
    ),
  );

describe('checking answers', () => {
  it('takes a required question that was left blank only where blanks are taken', () => {
    fc.assert(
      fc.property(answered, ([elements]) => {
        const blank = Object.fromEntries(elements.map((each, index) => [nameOf(each, index), []]));
        expect(check(blank, formOf(elements, { takesBlanks: true })).outcome).toBe('valid');
        const strict = check(blank, formOf(elements));
        const codes = strict.outcome === 'invalid' ? strict.faults.map(({ code }) => code) : [];
        expect(new Set(codes)).toEqual(new Set(codes.length > 0 ? ['required'] : []));
        const none = check({}, formOf(elements, { takesBlanks: true }));
        expect(none.outcome).toBe(check({}, formOf(elements)).outcome);
      }),
    );
  });

  it('accepts every valid map in any order and returns positions that match the texts', () => {
    fc.assert(
      fc.property(
        answered,
        fc.boolean(),
        fc.infiniteStream(fc.nat()),
        ([elements, values], prefixed, random) => {
          const entries = elements.map((each, index) => [
            `${prefixed ? `bloc/${index}/` : ''}${nameOf(each, index)}`,
            values[index],
          ]);
          entries.sort(() => ((random.next().value ?? 0) % 2 ? 1 : -1));
          const result = check(Object.fromEntries(entries), formOf(elements));
          expect(result.outcome).toBe('valid');
          if (result.outcome !== 'valid') return;
          expect(result.answers.map(({ key }) => key)).toEqual(elements.map((_, index) => `key.${index}`));
          for (const { options, positions, value } of result.answers)
            if (options) expect(positions?.map((position) => options[position])).toEqual(value);
        },
      ),
    );
  });

  it('never throws, accepts no unknown element and returns only answers to asked elements, for any input', () => {
    const names = fc.oneof(
      fc.string(),
      fc.constantFrom(
        'info',
        'comment',
        '__proto__',
        'constructor',
        'accord-action',
        'accord-shown',
        'element',
        'bloc/',
      ),
      fc
        .tuple(
          fc.constantFrom('processing', 'preference', 'x'),
          fc.constantFrom('key.0', 'key.9', '', 'a/b'),
          fc.constantFrom('1.0', '2.0', ''),
        )
        .map(([type, key, serial]) => `element/${type}/${key}/${serial}`),
    );
    const values = fc.oneof(
      fc.array(fc.oneof(fc.string(), fc.constantFrom('accepted', 'refused'), fc.anything())),
      fc.anything(),
    );
    fc.assert(
      fc.property(
        fc.array(element, { maxLength: 4 }),
        fc.dictionary(names, values),
        fc.boolean(),
        (elements, answers, isFormPost) => {
          const result = check(answers, formOf(elements as Element[], { isFormPost }));
          if (result.outcome === 'invalid') {
            expect(result.faults.length).toBeGreaterThan(0);
            for (const { pointer } of result.faults) expect(pointer).toMatch(/^(\/([^~]|~[01])*)?$/s);
          }
          if (result.outcome === 'valid')
            for (const { key } of result.answers) expect(Number(key.slice(4))).toBeLessThan(elements.length);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('requires exactly the required elements that are not hidden', () => {
    fc.assert(
      fc.property(
        fc.array(element, { minLength: 1, maxLength: 6 }),
        fc.array(fc.boolean()),
        (elements, hide) => {
          const form = formOf(elements as Element[], {
            hidden: new Set(elements.flatMap((_, index) => (hide[index] ? [`key.${index}`] : []))),
          });
          const wanted = elements.flatMap((each, index) => {
            const { type, contents } = each as Element;
            const isNotice = type === 'processing' && contents.en.refusable === false;
            return isNotice || contents.en.optional || hide[index]
              ? []
              : [`/${nameOf(each as Element, index).replaceAll('/', '~1')}`];
          });
          const result = check({}, form);
          const missing = result.outcome === 'invalid' ? result.faults.map(({ pointer }) => pointer) : [];
          expect(missing).toEqual(wanted);
        },
      ),
    );
  });

  it('returns the same answers when given its own result', () => {
    fc.assert(
      fc.property(answered, ([elements, values]) => {
        const form = formOf(elements);
        const first = check(
          Object.fromEntries(elements.map((each, index) => [nameOf(each, index), values[index]])),
          form,
        );
        if (first.outcome !== 'valid') throw new Error('these answers are right');
        const recorded = Object.fromEntries(
          first.answers.map(({ identifier, value }) => [identifier, value]),
        );
        expect(check(recorded, form)).toEqual(first);
      }),
    );
  });

  it.each(['\u200b', '\u00ad\u2060', ' \ufeff '])('has no text that nobody sees: %j', (text) => {
    const content = { valueType: 'FREE_TEXT' };
    const wish: Element = { type: 'preference', contents: { en: content, fr: content } };
    const checked = check({ [nameOf(wish, 0)]: [text] }, formOf([wish]));
    expect(checked).toMatchObject({ outcome: 'invalid', faults: [{ code: 'required' }] });
    expect(check({ [nameOf(wish, 0)]: [`${text}yes`] }, formOf([wish])).outcome).toBe('valid');
  });

  describe('from a page that states that it showed no element', () => {
    const made = (type: ModelType, content: Record<string, unknown>): Element => ({
      type,
      contents: { en: content, fr: content },
    });
    const topics = made('preference', { valueType: 'CHECKBOXES', optional: true, options: ['A', 'B'] });
    const wish = made('preference', { valueType: 'FREE_TEXT', optional: true });
    const notice = made('processing', { refusable: false });
    /** What the page "already answered" posts. @param more other fields. */
    const posted = (elements: Element[], more: Record<string, string[]> = {}) =>
      check(
        { info: ['element/information/info/1.0'], 'accord-action': ['submit'], ...more },
        formOf(elements, { isFormPost: true }),
      );
    const none = { 'accord-shown': [''] };

    it('neither records unticked boxes nor lists an unanswered question that became visible since', () => {
      expect(posted([topics, wish], none)).toMatchObject({ outcome: 'valid', answers: [], unanswered: [] });
      // Without the statement, all elements count as shown.
      expect(posted([topics, wish])).toMatchObject({
        outcome: 'valid',
        answers: [{ key: 'key.0', value: [] }],
        unanswered: [{ entry: { key: 'key.1' } }],
      });
    });

    it('shows the form again for a notice that became visible since', () => {
      expect(posted([notice], none)).toEqual({ outcome: 'stale', stale: [nameOf(notice, 0)] });
      expect(posted([notice])).toMatchObject({ outcome: 'valid', answers: [{ value: ['accepted'] }] });
    });
  });
});
