import { describe, expect, it } from 'vitest';
import type { FormElement, FormInformation } from '#lib/contracts/form-content.ts';
import { enteredAgain, enteredFields, type ShownAgain } from '../../services/forms/domain/entered-answers.ts';
import { sampleElements, sampleInformation } from '../support/samples/sample-content.ts';

const information = (key: string, major = 1) => `element/information/${key}/${major}.0`;
const processing = (key: string) => `element/processing/${key}/1.0`;
const [own, lab, clinic] = ['info', 'info@lab.example', 'info@clinic.example'] as const;
const [letter, study, care] = ['letter', 'study@lab.example', 'care@clinic.example'].map(processing) as [
  string,
  string,
  string,
];
const layout = { elements: ['letter', 'study@lab.example', 'care@clinic.example'] };

/** What the page of the form posts: two answers, and what it showed. */
const late = {
  info: [information(own)],
  'accord-shown': [letter, study, care, information(lab), information(clinic)],
  [letter]: ['accepted'],
  [study]: ['refused'],
};

describe('the fields of late answers', () => {
  it("have the information and the peers' informations that were shown", () => {
    const fields = enteredFields({ ...late, 'accord-action': ['submit'] }, layout);
    expect(fields.map(({ name, value }) => [name, value])).toEqual([
      ['info', information(own)],
      ...late['accord-shown'].map((shown) => ['accord-shown', shown]),
      [letter, 'accepted'],
      [study, 'refused'],
      ['accord-action', 'submit'],
    ]);
  });

  it('have no other information, and each once', () => {
    const fields = enteredFields(
      {
        info: ['smuggled', information(own), information('other')],
        'accord-shown': [
          information('info@stranger.example'),
          information(lab),
          processing('unasked'),
          letter,
          '',
        ],
      },
      layout,
    );
    expect(fields).toEqual([
      { name: 'info', value: information(own) },
      { name: 'accord-shown', value: information(lab) },
      { name: 'accord-shown', value: letter },
    ]);
  });

  it('are none if the page showed no element', () => {
    const post = { info: [information(own)], 'accord-shown': [''], 'accord-action': ['submit'] };
    expect(enteredFields(post, layout)).toEqual([]);
  });
});

describe('the form that late answers are filled into', () => {
  const [sample] = Object.values(sampleElements('en')) as [FormElement];
  const element = (identifier: string) => ({ ...sample, identifier }) as FormElement;
  const infoOf = (identifier: string): FormInformation => ({ ...sampleInformation('en'), identifier });
  /** The form with the current MAJOR of each information. */
  const formWith = (majors: { own?: number; lab?: number } = {}): ShownAgain => ({
    info: infoOf(information(own, majors.own)),
    elements: [letter, study, care].map(element),
    peers: [{ info: infoOf(information(lab, majors.lab)) }, { info: infoOf(information(clinic)) }],
    hidden: [],
  });

  it('has all of them if nothing has changed', () => {
    expect(enteredAgain(late, formWith())).toEqual({
      values: { [letter]: ['accepted'], [study]: ['refused'], [care]: [] },
      changed: [],
      faults: [],
      kept: true,
    });
  });

  it("marks all own elements after a new MAJOR of the information, and keeps the answers to peers'", () => {
    expect(enteredAgain(late, formWith({ own: 2 }))).toEqual({
      values: { [study]: ['refused'], [care]: [] },
      changed: [letter],
      removed: 0,
      faults: [],
      kept: false,
    });
  });

  it("marks the elements of a peer after a new MAJOR of the peer's information, and no others", () => {
    expect(enteredAgain(late, formWith({ lab: 2 }))).toEqual({
      values: { [letter]: ['accepted'], [care]: [] },
      changed: [study],
      removed: 0,
      faults: [],
      kept: false,
    });
  });

  it('marks the elements of a peer that shows another information now', () => {
    const shown = late['accord-shown'].with(3, information('former@lab.example'));
    expect(enteredAgain({ ...late, 'accord-shown': shown }, formWith())).toMatchObject({ changed: [study] });
  });

  it('has no question that was removed, and counts it once', () => {
    const form = formWith();
    const left = { ...form, elements: form.elements.slice(1) };
    expect(enteredAgain(late, left)).toEqual({
      values: { [study]: ['refused'], [care]: [] },
      changed: [],
      removed: 1,
      faults: [],
      kept: false,
    });
    const [asked, ...others] = form.elements;
    const hiding = { ...form, elements: others, hidden: [asked as FormElement] };
    expect(enteredAgain(late, hiding)).toMatchObject({ kept: true });
  });

  it('"accept all" answers what the page showed, and nothing else', () => {
    const post = { info: [information(own)], 'accord-shown': [letter], 'accord-action': ['accept-all'] };
    expect(enteredAgain(post, formWith())).toMatchObject({ values: { [letter]: ['accepted'] } });
    expect(Object.keys(enteredAgain(post, formWith())?.values ?? {})).toEqual([letter]);
  });

  it('is not filled in by a post that has no answer to it', () => {
    expect(enteredAgain({ info: [information(own)], 'accord-shown': [''] }, formWith())).toBeUndefined();
  });
});
