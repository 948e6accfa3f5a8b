import { beforeAll, describe, expect, it } from 'vitest';
import { type Caller, callerWith, createKey, signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { makeLiveModel, withdrawModel } from '../support/instances/live-models.ts';
import {
  type LiveForm,
  letter,
  often,
  problemOf,
  study,
  subjectOf,
} from '../support/instances/live-subject.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';
import { languagesOn, parsePage } from '../support/pages/parse-page.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

let shop: Caller;
let admin: Caller;
const instance = useInstance();
beforeAll(async () => {
  [shop, admin] = [await createKey(instance), await signIn(instance, 'admin')];
});

const formOf = async (context: Record<string, unknown>, headers: Record<string, string> = {}) => {
  const { task, token } = await createTransaction(shop, context);
  const answer = await callerWith(instance, {}).get(`${task}?t=${token}`, headers);
  return (await answer.json()) as LiveForm;
};

describe('the form as JSON', () => {
  it('has the information and the elements in the order of the layout, each with what may be answered', async () => {
    const form = await formOf({});
    expect(form).toMatchObject({
      language: 'en',
      orientation: 'VERTICAL',
      info: { identifier: 'element/information/information.001/1.0', serial: '1.0', answers: null },
      peers: [],
    });
    expect(form.info.entry).toMatchObject({ key: 'information.001', type: 'information' });
    expect(form.elements.map(({ identifier }) => identifier)).toEqual([letter, study, often]);
    expect(form.elements.map(({ answers }) => answers)).toEqual([
      ['accepted', 'refused'],
      ['accepted', 'refused'],
      ['Every week', 'Once a month', 'When a new season opens'],
    ]);
    for (const element of form.elements)
      expect(element).toMatchObject({
        serial: '1.0',
        owner: null,
        required: element.identifier !== often,
        multiple: false,
        previous: null,
      });
  });

  it('states which answers are allowed, multiple or free text', async () => {
    const elements = ['processing.003', 'preference.002', 'preference.003'];
    const form = await formOf({ layoutData: { elements } });
    expect(form.elements).toMatchObject([
      { answers: ['accepted'], required: false, multiple: false },
      { answers: ['Drama', 'Dance', 'Concerts', 'Shows for children'], multiple: true },
      { answers: null, multiple: false },
    ]);
  });

  it('has links with a fresh token, and one to cancel where that is allowed', async () => {
    const open = await formOf({});
    expect(Object.keys(open.links).sort()).toEqual(['submit', 'transaction']);
    const { links, token } = await formOf({ cancellable: true });
    for (const link of Object.values(links)) expect(link).toContain(`?t=${token}`);
    const cancelled = await callerWith(instance, {}).send('POST', links.cancel as string);
    expect(await cancelled.json()).toMatchObject({ state: 'CANCELLED' });
  });

  it('has the information marked default when the layout names none', async () => {
    const form = await formOf({ layoutData: { elements: ['processing.001'] } });
    expect(form.info.entry.key).toBe('information.001');
  });

  it('has the options of its layout, or their defaults', async () => {
    const layoutData = { elements: ['processing.001'], orientation: 'HORIZONTAL', acceptAllVisible: true };
    const { layout, orientation } = await formOf({ layoutData });
    expect(orientation).toBe('HORIZONTAL');
    expect(layout).toMatchObject({
      type: 'layout',
      acceptAllVisible: true,
      existingElementsVisible: true,
      validityVisible: true,
      cancelVisible: false,
      footerOnTop: false,
      includeIFrameResizer: true,
    });
  });
});

describe('the language of the form', () => {
  const languageFor = async (accept: string, context = {}) =>
    (await formOf(context, { 'Accept-Language': accept })).language;

  it('is that of Accept-Language', async () => {
    expect(await languageFor('fr-CA, en;q=0.5')).toBe('fr');
    expect(await languageFor('en;q=0.5, ar')).toBe('ar');
    expect(await languageFor('sw, *')).toBe('en');
    expect(await languageFor('*')).toBe('en');
  });

  it('is that of the context, regardless of Accept-Language', async () => {
    expect(await languageFor('ar', { language: 'fr' })).toBe('fr');
    expect(await languageFor('ar', { language: 'fr-CA' })).toBe('fr');
  });

  it('falls back to an available language for each element, marked as such', async () => {
    const english = await makeLiveModel(admin, 'processing', { en: sampleContent.processing });
    const form = await formOf({ language: 'fr', layoutData: { elements: ['processing.001', english.key] } });
    expect(form.elements.map(({ content }) => content.lang)).toEqual(['fr', 'en']);
  });
});

describe('a person who reads another language than that of the link', () => {
  const browser = callerWith(instance, { Accept: 'text/html', 'Accept-Language': 'ar' });
  const read = async (url: string) => parsePage(await (await browser.get(url)).text());

  it('chooses it on the form, and has the next pages and the receipt in it', async () => {
    const { id, task, token } = await createTransaction(shop, { language: 'en' });
    const form = await read(`${task}?t=${token}`);
    expect(form.tagged('html')[0]?.attribs.lang).toBe('en');
    const links = languagesOn(form);
    expect(links.map(({ attribs }) => attribs.hreflang)).toEqual(['fr', 'ar']);
    expect(links.map((link) => form.text(link))).toEqual(['Français', 'العربية']);
    const french = await read(links[0]?.attribs.href ?? '');
    expect(french.tagged('html')[0]?.attribs.lang).toBe('fr');
    const action =
      french.tagged('form').find(({ attribs }) => attribs.id === 'choices')?.attribs.action ?? '';
    const post = (...fields: [string, string][]) =>
      instance.fetch(action.replace(instance.url, ''), {
        method: 'POST',
        headers: { Accept: 'text/html' },
        body: new URLSearchParams(fields),
        redirect: 'manual',
      });
    const shown: [string, string] = ['info', 'element/information/information.001/1.0'];
    const faulty = parsePage(await (await post(shown, [letter, 'accepted'])).text());
    expect(faulty.tagged('html')[0]?.attribs.lang).toBe('fr');
    expect(languagesOn(faulty)).toEqual([]);
    const sent = await post(shown, [letter, 'accepted'], [study, 'refused']);
    const end = await read(sent.headers.get('location') ?? '');
    expect(end.tagged('html')[0]?.attribs.lang).toBe('fr');
    expect(await (await shop.get(`/receipts/${id}`)).json()).toMatchObject({ language: 'fr' });
  });

  it('is offered only those in which every question exists', async () => {
    const english = await makeLiveModel(admin, 'processing', { en: sampleContent.processing });
    const layoutData = { elements: ['processing.001', english.key] };
    const { task, token } = await createTransaction(shop, { language: 'fr', layoutData });
    const [only, ...others] = languagesOn(await read(`${task}?t=${token}`));
    expect([only?.attribs.hreflang, others]).toEqual(['en', []]);
    const odd = await read(`${task}?t=${token}&language=zz-`);
    expect(odd.tagged('html')[0]?.attribs.lang).toBe('fr');
  });
});

describe('an element that was withdrawn after the creation', () => {
  it('is omitted from the form; without any element the form is an error', async () => {
    const content = { en: sampleContent.processing };
    const element = await makeLiveModel(admin, 'processing', content);
    const some = await createTransaction(shop, { layoutData: { elements: [element.key, 'processing.001'] } });
    const all = await createTransaction(shop, { layoutData: { elements: [element.key] } });
    await withdrawModel(admin, element);
    const { elements } = await subjectOf(instance, some).form();
    expect(elements.map(({ identifier }) => identifier)).toEqual([letter]);
    const gone = await problemOf(await subjectOf(instance, all).get('/submit'));
    expect(gone.said).toBe('409 withdrawn');
  });
});
