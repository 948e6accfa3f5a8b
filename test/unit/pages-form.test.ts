import { describe, expect, it } from 'vitest';
import type { FormElement } from '#lib/contracts/form-content.ts';
import { renderer } from '../support/pages/page-renderer.ts';
import { type Element, parsePage } from '../support/pages/parse-page.ts';
import { plainSpaces } from '../support/pages/plain-spaces.ts';
import { sampleForm } from '../support/pages/sample-pages.ts';
import { sampleElements } from '../support/samples/sample-content.ts';

const { newsletter, research, record, channel, topics, remarks, site, terms } = sampleElements(
  'en',
) as Record<string, FormElement>;
const all = [newsletter, research, record, channel, topics, remarks, site] as FormElement[];
const layout = { ...sampleForm('en', []).form.layout, acceptAllVisible: true, cancelVisible: true };
const form = (elements: (FormElement | undefined)[], more: Parameters<typeof sampleForm>[2] = {}) =>
  parsePage(renderer.render(sampleForm('en', elements as FormElement[], more)));
const fields = (elements: Element[], name: string | undefined) =>
  elements.filter(({ attribs }) => attribs.name === name);
const checked = (elements: Element[]) =>
  elements.filter(({ attribs }) => 'checked' in attribs).map(({ attribs }) => attribs.value);
const given = (element: FormElement | undefined, answers: string[]) =>
  ({
    ...element,
    previous: { identifier: element?.identifier, answers, created: '2025-05-03T09:12:00Z' },
  }) as FormElement;

describe('a form', () => {
  it('names its fields by the identifiers of the elements, inside a named group each', () => {
    const page = form(all);
    const asked = all.filter((element) => element !== record);
    for (const { identifier } of asked) {
      const control = page.elements.find(({ attribs }) => attribs.name === identifier);
      expect(control?.name).toMatch(/^(input|select|textarea)$/);
    }
    expect(page.tagged('fieldset')).toHaveLength(asked.length);
    expect(page.tagged('legend')).toHaveLength(asked.length);
    expect(fields(page.tagged('input'), 'info')[0]?.attribs.value).toBe(
      'element/information/information.001/1.0',
    );
  });

  it('states which elements it shows, also that it shows none', () => {
    const shownOn = (elements: FormElement[]) =>
      fields(form(elements).tagged('input'), 'accord-shown').map(({ attribs }) => attribs.value);
    expect(shownOn(all)).toEqual(all.map(({ identifier }) => identifier));
    expect(shownOn([])).toEqual(['']);
  });

  it('preselects nothing of processing and conditions, whatever defaults their content claims', () => {
    const claiming = [newsletter, record, terms].map((element) => ({
      ...element,
      content: { ...element?.content, includeDefault: true, defaultValues: ['accepted'] },
    }));
    expect(checked(form(claiming as FormElement[]).tagged('input'))).toEqual([]);
  });

  it('preselects the defaults of a preference only if it is told to', () => {
    const content = { ...channel?.content, defaultValues: ['Email'] };
    expect(checked(form([{ ...channel, content } as FormElement]).tagged('input'))).toEqual([]);
    const included = { ...channel, content: { ...content, includeDefault: true } } as FormElement;
    expect(checked(form([included]).tagged('input'))).toEqual(['Email']);
  });

  it('preselects an earlier answer and says of which day it is', () => {
    const page = form([given(newsletter, ['refused'])]);
    expect(checked(page.tagged('input'))).toEqual(['refused']);
    expect(plainSpaces(page.text())).toContain('Your answer of 3 May 2025');
  });

  it('keeps what was entered before a fault rather than an earlier answer', () => {
    const page = form([given(newsletter, ['refused'])], {
      values: { [newsletter?.identifier ?? '']: ['accepted'] },
    });
    expect(checked(page.tagged('input'))).toEqual(['accepted']);
    expect(page.text()).not.toContain('Your answer of');
  });

  it('offers accept and refuse side by side with the same markup', () => {
    const [accept, refuse] = fields(form([newsletter]).tagged('input'), newsletter?.identifier);
    expect(Object.keys(accept?.attribs ?? {})).toEqual(Object.keys(refuse?.attribs ?? {}));
    expect([accept?.attribs.value, refuse?.attribs.value]).toEqual(['accepted', 'refused']);
  });

  it('shows what cannot be refused as a notice without a control, and says why there is no choice', () => {
    const page = form([record]);
    expect(fields(page.tagged('input'), record?.identifier)).toEqual([]);
    expect(page.text()).toContain('No choice is offered here, because the law requires it.');
    expect(page.text()).not.toContain('optional');
    const bases = ['LEGAL_BASIS_CONTRACT', 'LEGAL_BASIS_CONSENT', 'LEGAL_BASIS_PUBLIC_INTEREST'];
    const several = { ...record, content: { ...record?.content, legalBases: bases } } as FormElement;
    expect(form([several]).text()).toContain(
      'because it is needed for a contract with you and it is in the public interest.',
    );
    const without = { ...record, content: { ...record?.content, legalBases: [] } } as FormElement;
    expect(form([without]).text()).toContain('This is for your information.');
  });

  it('has neither buttons for all answers nor choices to send where nothing is asked', () => {
    const buttons = form([record], { layout }).tagged('button');
    expect(buttons.map(({ attribs }) => attribs.value)).not.toContain('refuse-all');
    expect(form([record], { layout }).text()).toContain('Continue');
  });

  it('says in a child that a peer keeps its earlier answer', () => {
    const owner = 'University Hospital';
    const peer = { ...newsletter, owner, identifier: 'element/processing/study@hospital.example/1.0' };
    const peers = [{ name: owner, location: 'https://hospital.example', info: null, elements: [peer] }];
    const shown = (peersOptional: boolean) =>
      form([newsletter, peer] as FormElement[], { peersOptional, peers } as object).text();
    const note =
      'University Hospital keeps your earlier answer, if you gave one. Leave this empty to leave it as it stands there; a consent that was withdrawn stays withdrawn.';
    expect(shown(true).split(note)).toHaveLength(2);
    expect(shown(false)).not.toContain(note);
  });

  it('comes with refuse-all wherever accept-all is, after the button that sends the choices made', () => {
    // A question that must be answered by itself would make both buttons fail.
    expect(
      form(all, { layout })
        .tagged('button')
        .map(({ attribs }) => attribs.value),
    ).not.toContain('refuse-all');
    const values = { [channel?.identifier ?? '']: ['Email'], [site?.identifier ?? '']: ['x'] };
    const actions = form(all, { layout, values } as never)
      .tagged('button')
      .filter(({ attribs }) => attribs.name === 'accord-action');
    expect(actions.map(({ attribs }) => attribs.value)).toEqual(['submit', 'accept-all', 'refuse-all']);
    expect(
      form([channel], { layout })
        .tagged('button')
        .map(({ attribs }) => attribs.value),
    ).not.toContain('accept-all');
  });

  it('offers to cancel only if the layout shows it and the transaction allows it', () => {
    const cancels = (more: Parameters<typeof sampleForm>[2]) =>
      form(all, more)
        .tagged('form')
        .filter(({ attribs }) => attribs.id === 'cancel').length;
    expect(cancels({ layout })).toBe(1);
    expect(cancels({})).toBe(0);
    expect(
      cancels({ layout, links: { submit: 'https://a.example/submit', all: 'https://a.example/all' } }),
    ).toBe(0);
  });

  it('says in words which data are sensitive', () => {
    expect(form([research]).text()).toContain('Contains sensitive data');
    expect(form([research]).text()).toContain('Contains health data');
    expect(form([newsletter]).text()).not.toContain('Contains');
  });

  it('shows who asks, for what, which data, how long and with whom without opening anything', () => {
    const page = form([research]);
    const closed = page
      .tagged('details')
      .map((element) => page.text(element))
      .join();
    for (const text of [
      'Riverside Clinic',
      'study how treatments work',
      'Diagnoses',
      'At most 10 years',
      'University Hospital',
    ]) {
      expect(plainSpaces(page.text())).toContain(text);
    }
    expect(closed).not.toContain('Diagnoses');
  });

  it('links each fault in its summary to the field at fault, which is marked', () => {
    const faults = [channel, remarks, site].map((element) => ({
      identifier: element?.identifier ?? '',
      code: 'required',
    }));
    const page = form(all, { faults });
    const summary = page.elements.find(({ attribs }) => attribs.class === 'notice notice-fault');
    expect(summary?.attribs).toMatchObject({ autofocus: '', tabindex: '-1' });
    const targets = page
      .tagged('a')
      .map(({ attribs }) => attribs.href ?? '')
      .filter((href) => href.startsWith('#q'));
    expect(targets).toHaveLength(3);
    for (const target of targets) {
      const field = page.elements.find(({ attribs }) => attribs.id === target.slice(1));
      expect(field?.attribs['aria-invalid']).toBe('true');
    }
    expect(page.text(page.tagged('title')[0])).toMatch(/^Error: /);
  });

  it('shows a fault that belongs to no field', () => {
    const page = form([channel], { faults: [{ identifier: 'info', code: 'unknown-element' }] });
    expect(page.text()).toContain('Something that was sent could not be accepted.');
  });

  it('marks what has changed and says how much', () => {
    const page = form([newsletter, research], { changed: [research?.identifier ?? ''] });
    expect(page.text()).toContain('One question, or the information about it, was changed');
    expect(page.elements.filter(({ attribs }) => attribs.class?.includes('is-changed'))).toHaveLength(1);
  });

  it('marks the language of a text that is not in the language of the page', () => {
    const page = form([sampleElements('ar').newsletter]);
    const title = page.tagged('h3').flatMap(({ children }) => children)[0] as Element;
    expect(title.attribs).toMatchObject({ lang: 'ar', dir: 'rtl' });
    expect(page.tagged('html')[0]?.attribs).toMatchObject({ lang: 'en', dir: 'ltr' });
  });

  it('shows validity only if the layout does', () => {
    const shown = (more?: Parameters<typeof form>[1]) => plainSpaces(form([newsletter], more).text());
    expect(shown()).toContain('Your answers are valid for 6 months.');
    expect(shown({ layout: { ...layout, validityVisible: false } })).not.toContain('6 months');
  });

  it('promises changes only where they are possible', () => {
    expect(form([newsletter]).text()).toContain('You can change your answers or withdraw a consent');
    expect(form([newsletter], { updatable: false }).text()).toContain('ask Riverside Clinic');
  });

  it('sends nothing from a preview', () => {
    const page = form(all, { isPreview: true, layout });
    expect(page.tagged('form').map(({ attribs }) => attribs.action)).toEqual([undefined]);
    expect(page.tagged('button').every(({ attribs }) => 'disabled' in attribs)).toBe(true);
  });

  it('writes dates as the region of its reader does', () => {
    const text = (language: string) =>
      plainSpaces(parsePage(renderer.render({ ...sampleForm('en', []), language })).text());
    expect(text('en')).toContain('10 May 2025');
    expect(text('en-US')).toContain('May 10, 2025');
  });
});
