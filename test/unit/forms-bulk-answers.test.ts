import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { bulkAnswer, canAnswerAll } from '#lib/contracts/element-rules.ts';
import type { DescribedElement } from '#lib/contracts/forms.ts';
import { type AnswerableForm, checkAnswers } from '../../services/forms/domain/check-answers.ts';
import { createContentVersion } from '../../services/forms/domain/content-version.ts';
import type { ModelType } from '../../services/forms/domain/model.ts';
import { readAnswers } from '../../services/forms/domain/read-answers.ts';

const valueTypes = ['TOGGLE', 'RADIO_BUTTONS', 'LIST_SINGLE', 'CHECKBOXES', 'LIST_MULTI', 'FREE_TEXT'];

/** An element, and what the subject entered before pressing a button; undefined: nothing. */
const element = fc
  .record({
    type: fc.constantFrom<ModelType>('processing', 'conditions', 'preference'),
    valueType: fc.constantFrom(...valueTypes),
    refusable: fc.boolean(),
    optional: fc.boolean(),
    isPeer: fc.boolean(),
    entered: fc.option(fc.nat(1), { nil: undefined }),
  })
  .map(({ type, valueType, refusable, optional, isPeer, entered }) => {
    if (type !== 'preference') {
      const offered = refusable ? ['accepted', 'refused'] : ['accepted'];
      return {
        type,
        isPeer,
        content: { refusable },
        entered: entered === undefined ? undefined : offered[entered],
      };
    }
    const options = ['No', 'Yes'];
    const content = { valueType, optional, ...(valueType !== 'FREE_TEXT' && { options }) };
    return { type, isPeer, content, entered: entered === undefined ? undefined : options[entered] };
  });
type Element = {
  type: ModelType;
  isPeer: boolean;
  content: { refusable?: boolean; valueType?: string; optional?: boolean };
  entered: string | undefined;
};

const keyOf = ({ isPeer }: Element, index: number) => `key.${index}${isPeer ? '@lab.example' : ''}`;
const nameOf = (each: Element, index: number) => `element/${each.type}/${keyOf(each, index)}/1.0`;
const isNotice = ({ type, content }: Element) => type === 'processing' && content.refusable === false;

function versionOf(type: ModelType, key: string, content: object) {
  const data = { en: structuredClone(content) as Record<string, unknown> };
  const [own = '', host] = key.split('@');
  return createContentVersion({
    id: key,
    type,
    key: own,
    ...(host && { host }),
    serial: '1.0',
    defaultLanguage: 'en',
    data,
  });
}

function formOf(elements: Element[], isChild = false): AnswerableForm {
  const keys = elements.map(keyOf);
  return {
    keys,
    info: { version: versionOf('information', 'info', {}), name: 'info' },
    elements: new Map(
      elements.map((each, index) => [
        keyOf(each, index),
        { version: versionOf(each.type, keyOf(each, index), each.content), name: 'x' },
      ]),
    ),
    former: new Map(),
    hidden: new Set(),
    askedIfAnswered: new Set(isChild ? keys.filter((key) => key.includes('@')) : []),
    language: 'en',
    isFormPost: true,
  };
}

/** What is made of a form post by a button. */
function press(action: string, elements: Element[], isChild = false) {
  const entered = elements.flatMap((each, index) =>
    each.entered === undefined || isNotice(each) ? [] : [[nameOf(each, index), [each.entered]] as const],
  );
  const post = {
    ...Object.fromEntries(entered),
    info: ['element/information/info/1.0'],
    'accord-action': [action],
    'accord-shown': elements.map(nameOf),
  };
  return checkAnswers(readAnswers(post, true), formOf(elements, isChild));
}

const layouts = fc.array(element, { minLength: 1, maxLength: 6 }) as fc.Arbitrary<Element[]>;

describe('accept-all and refuse-all', () => {
  it('have the same outcome for every layout: both succeed, or both require the same answers', () => {
    fc.assert(
      fc.property(layouts, fc.boolean(), (elements, isChild) => {
        const [accepted, refused] = ['accept-all', 'refuse-all'].map((action) =>
          press(action, elements, isChild),
        );
        expect(refused?.outcome).toBe(accepted?.outcome);
        if (accepted?.outcome === 'invalid' && refused?.outcome === 'invalid')
          expect(refused.faults).toEqual(accepted.faults);
        if (accepted?.outcome === 'valid' && refused?.outcome === 'valid')
          expect(refused.answers.map(({ key }) => key)).toEqual(accepted.answers.map(({ key }) => key));
      }),
      { numRuns: 1000 },
    );
  });

  it('can be offered exactly where both succeed and answer something', () => {
    fc.assert(
      fc.property(layouts, (elements) => {
        const described = elements.map((each, index) => {
          const { type, content } = each;
          return versionOf(type, keyOf(each, index), content).describe('en', 'x') as DescribedElement;
        });
        const entered = new Set(
          elements.flatMap((each, index) => {
            const isMultiple = ['CHECKBOXES', 'LIST_MULTI'].includes(each.content.valueType ?? '');
            return each.entered !== undefined || isMultiple || isNotice(each) ? [nameOf(each, index)] : [];
          }),
        );
        const offered = canAnswerAll(described, ({ identifier }) => entered.has(identifier));
        const outcomes = ['accept-all', 'refuse-all'].map((action) => press(action, elements).outcome);
        const hasChoice = described.some((each) => bulkAnswer(each, 'refuse-all') !== undefined);
        expect(offered).toBe(hasChoice && outcomes.every((each) => each === 'valid'));
      }),
      { numRuns: 1000 },
    );
  });

  it('answer every element that can be accepted and refused, and keep all other entries', () => {
    fc.assert(
      fc.property(layouts, fc.constantFrom('accept-all', 'refuse-all'), (elements, action) => {
        const result = press(action, elements);
        if (result.outcome !== 'valid') return;
        const isAccept = action === 'accept-all';
        for (const [index, each] of elements.entries()) {
          const answer = result.answers.find(({ identifier }) => identifier === nameOf(each, index));
          if (isNotice(each)) expect(answer?.value).toEqual(['accepted']);
          else if (each.content.valueType === 'TOGGLE')
            expect(answer?.value).toEqual([isAccept ? 'Yes' : 'No']);
          else if (each.type !== 'preference' && each.content.refusable)
            expect(answer?.value).toEqual([isAccept ? 'accepted' : 'refused']);
          else expect(answer?.value ?? []).toEqual(each.entered === undefined ? [] : [each.entered]);
        }
      }),
      { numRuns: 1000 },
    );
  });
});

describe('a notice', () => {
  const notice: Element = {
    type: 'processing',
    isPeer: false,
    content: { refusable: false },
    entered: undefined,
  };
  const name = nameOf(notice, 0);
  const answer = (answers: Record<string, string[]>, form: AnswerableForm) =>
    checkAnswers(readAnswers(answers, form.isFormPost), form);

  it('is recorded as accepted without options, whether it is sent or omitted, and cannot be refused', () => {
    const form = { ...formOf([notice]), isFormPost: false };
    for (const given of [{}, { [name]: [] }, { [name]: [''] }, { [name]: ['accepted'] }])
      expect(answer(given as Record<string, string[]>, form)).toMatchObject({
        answers: [{ identifier: name, value: ['accepted'], positions: null, options: null }],
      });
    expect(answer({ [name]: ['refused'] }, form)).toMatchObject({ faults: [{ code: 'not-refusable' }] });
    expect(answer({ [name]: ['accepted', 'accepted'] }, form)).toMatchObject({
      faults: [{ code: 'too-many' }],
    });
  });

  it('is not recorded if the page did not show it: the form is shown again', () => {
    const letter: Element = { ...notice, content: {}, entered: 'accepted' };
    const shown = nameOf(letter, 1);
    const post = { info: ['element/information/info/1.0'], [shown]: ['accepted'], 'accord-shown': [shown] };
    expect(answer(post, formOf([notice, letter]))).toEqual({ outcome: 'stale', stale: [name] });
  });

  it('of a peer whose elements need no answer is sent only with an answer to one of them', () => {
    const ofPeer: Element = { ...notice, isPeer: true };
    const question: Element = { ...ofPeer, content: {} };
    const keys = (elements: Element[]) => {
      const result = press('submit', elements, true);
      return result.outcome === 'valid' && result.asked.map(({ identifier }) => identifier);
    };
    expect(keys([ofPeer, question])).toEqual([]);
    const both = [ofPeer, { ...question, entered: 'refused' }];
    expect(keys(both)).toEqual(both.map(nameOf));
  });
});
