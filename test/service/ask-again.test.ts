import { randomUUID } from 'node:crypto';
import { describe, expect, it, onTestFinished } from 'vitest';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass } from '../support/instances/live-database.ts';
import { activateContent, makeLiveModel } from '../support/instances/live-models.ts';
import { type Answers, type LiveForm, problemOf, subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction, recordAnswers, recordsOf } from '../support/instances/live-transactions.ts';

async function readJson<Body>(response: Response | Promise<Response>): Promise<Body> {
  return (await response).json() as Promise<Body>;
}

const instance = useInstance();
const admin: Caller = useSetup(() => signIn(instance, 'admin'));
const shop: Caller = useSetup(() => createKey(instance));

type Content = Record<string, unknown>;
const processing = (usage: string, more: Content = {}): Content => ({
  title: 'Letters',
  data: 'Your address',
  usage,
  retention: { label: 'a year' },
  purposes: ['CONSENT_MARKETING'],
  ...more,
});

/** An element with one version; `change` activates the next one. */
async function element(data: Record<string, Content>, type = 'processing') {
  const model = await makeLiveModel(admin, type, data);
  const change = (next: Record<string, Content>, kind: 'MAJOR' | 'MINOR') =>
    activateContent(admin, model, next, kind);
  return { key: model.key, identifier: `element/${type}/${model.key}/1.0`, change };
}

type Element = Awaited<ReturnType<typeof element>>;

/** A form that asks only what changed. */
async function openForm(subject: string, elements: readonly Element[], context: Content = {}) {
  const layoutData = { elements: elements.map(({ key }) => key) };
  const made = await createTransaction(shop, { subject, layoutData, ask: 'CHANGED', ...context });
  const person = subjectOf(instance, made);
  return { made, person, form: await person.form() };
}

const answersOf = (elements: readonly Element[], answer: string): Answers =>
  Object.fromEntries(elements.map(({ identifier }) => [identifier, [answer]]));
const fieldOf = (form: LiveForm, field: string, index = 0) =>
  form.elements[index]?.change?.fields.find((each) => each.field === field);

describe('a form that asks only what changed', () => {
  it('asks one question of twelve, keeps eleven answers, and leaves their records as they are', async () => {
    const elements = await Promise.all(
      Array.from({ length: 12 }, () => element({ en: processing('News.') })),
    );
    const [first] = elements as [Element];
    const subject = `twelve-${randomUUID()}`;
    await recordAnswers(shop, subject, answersOf(elements, 'accepted'));
    await first.change({ en: processing('News and offers.') }, 'MAJOR');

    const { person, form } = await openForm(subject, elements);
    expect(form.elements.map(({ entry }) => entry.key)).toEqual([first.key]);
    expect(form.elements[0]?.previous).toBeNull();
    expect(form.kept).toHaveLength(11);
    expect(form.kept?.[0]).toMatchObject({ title: 'Letters', answers: ['accepted'] });

    const before = await recordsOf(shop, subject);
    const submitted = await person.submit({ [`element/processing/${first.key}/2.0`]: ['refused'] });
    expect(submitted.status).toBe(200);
    const after = await recordsOf(shop, subject);
    for (const { key } of elements.slice(1)) expect(after[key]).toEqual(before[key]);
    expect(after[first.key]?.[0]).toMatchObject({ value: 'refused', bodySerial: '2.0', status: 'VALID' });
  });

  it('asks as many people about a MAJOR as the count of valid answers said before it', async () => {
    const one = await element({ en: processing('News.') });
    const prefix = `counted-${randomUUID()}`;
    const [accepted, refused] = [answersOf([one], 'accepted'), answersOf([one], 'refused')];
    const histories: Record<string, [Answers, Content?][]> = {
      accepted: [[accepted]],
      refused: [[refused]],
      withdrawn: [[accepted], [refused, { validity: 'P2Y' }]],
      twice: [[accepted], [accepted, { validity: 'P2Y' }]],
      'about a car': [[accepted, { object: 'car' }]],
      expired: [[accepted, { validity: 'P1D' }]],
      never: [],
    };
    for (const [who, answers] of Object.entries(histories))
      for (const [given, context] of answers) await recordAnswers(shop, `${prefix} ${who}`, given, context);
    await letTimePass(instance, '2 days');
    onTestFinished(() => letTimePass(instance, '0'));
    let visits = 0;
    const formOf = async (who: string) => {
      visits += 1; // Another validity makes another context.
      const context = { validity: `P${visits}M`, ...(who === 'about a car' && { object: 'car' }) };
      return (await openForm(`${prefix} ${who}`, [one], context)).form;
    };
    const asked = async () => {
      const forms = await Promise.all(Object.keys(histories).map(formOf));
      return Object.keys(histories).filter((_who, place) => forms[place]?.elements.length === 1);
    };
    const before = await asked();
    expect(before).toEqual(['expired', 'never']);
    const counted = await readJson<{ values: { subjects: number }[] }>(
      admin.get(`/stats/valid?keys=${one.key}`),
    );
    await one.change({ en: processing('News and offers.') }, 'MAJOR');
    const askedAgain = (await asked()).filter((who) => !before.includes(who));
    expect(askedAgain).toEqual(['accepted', 'refused', 'withdrawn', 'twice', 'about a car']);
    expect(counted.values.map(({ subjects }) => subjects)).toEqual([askedAgain.length]);
    expect((await formOf('refused')).elements[0]?.change?.from).toBe(one.identifier);
  });

  it('says word by word what has changed since this person answered', async () => {
    const one = await element({
      en: processing('We write once a month.'),
      ar: processing('نكتب مرة كل شهر.'),
    });
    const subject = `words-${randomUUID()}`;
    await recordAnswers(shop, subject, answersOf([one], 'accepted'));
    await one.change({ en: processing('A version that this person never saw.') }, 'MAJOR');
    const next = { purposes: ['CONSENT_MARKETING', 'CONSENT_RESEARCH'] };
    await one.change(
      { en: processing('We write once a week.', next), ar: processing('نكتب مرة كل أسبوع.', next) },
      'MAJOR',
    );

    const { form } = await openForm(subject, [one]);
    expect(form.elements[0]?.change?.from).toBe(one.identifier);
    expect(fieldOf(form, 'usage')).toMatchObject({
      old: 'We write once a month.',
      new: 'We write once a week.',
      parts: [
        { op: 'same', text: 'We write once a ' },
        { op: 'removed', text: 'month' },
        { op: 'added', text: 'week' },
        { op: 'same', text: '.' },
      ],
    });
    expect(fieldOf(form, 'purposes')?.parts).toEqual([
      { op: 'same', text: expect.any(String) },
      { op: 'added', text: expect.any(String) },
    ]);
    expect(fieldOf(form, 'data')).toBeUndefined();

    const arabic = await openForm(subject, [one], { language: 'ar' });
    expect(fieldOf(arabic.form, 'usage')?.parts).toContainEqual({ op: 'removed', text: 'شهر' });
    const page = await (await arabic.person.get('/submit', 'text/html')).text();
    expect(page).toMatch(/<del><span class="hidden"[^>]*>محذوف: <\/span>شهر<\/del>/);
    expect(page).toMatch(/<ins><span class="hidden"[^>]*>مضاف: <\/span>أسبوع<\/ins>/);
  });

  it('gives both texts in full if the former version has no text in the language', async () => {
    const one = await element({ fr: processing('Nous écrivons.') });
    const subject = `language-${randomUUID()}`;
    await recordAnswers(shop, subject, answersOf([one], 'accepted'), { language: 'fr' });
    await one.change({ en: processing('We write.') }, 'MAJOR');
    const { form } = await openForm(subject, [one], { language: 'en' });
    expect(fieldOf(form, 'usage')).toEqual({
      field: 'usage',
      label: expect.any(String),
      old: 'Nous écrivons.',
      oldLanguage: 'fr',
      new: 'We write.',
    });
  });

  it('shows rich text of a former version as plain text, and never its markup', async () => {
    const body = '<p>First <b>clause</b></p><ul><li>one</li><li>two</li></ul>';
    const one = await element({ en: { title: 'Terms', body } }, 'conditions');
    const subject = `rich-${randomUUID()}`;
    await recordAnswers(shop, subject, answersOf([one], 'accepted'));
    await one.change(
      { en: { title: 'Terms', body: '<p>First clause</p><p>&lt;script&gt;alert(1)&lt;/script&gt;</p>' } },
      'MAJOR',
    );
    const { person, form } = await openForm(subject, [one]);
    expect(fieldOf(form, 'body')?.old).toBe('First clause\none\ntwo');
    expect(await (await person.get('/submit', 'text/html')).text()).not.toContain('<script>alert');
  });

  it('is already answered if nothing changed, and offers to change the answers', async () => {
    const one = await element({ en: processing('News.') });
    const subject = `same-${randomUUID()}`;
    await recordAnswers(shop, subject, answersOf([one], 'accepted'));
    await one.change({ en: processing('Our news.') }, 'MINOR');
    const { person, form } = await openForm(subject, [one]);
    expect(form).toMatchObject({ elements: [], kept: [{ identifier: one.identifier }] });
    const page = await (await person.get('/submit', 'text/html')).text();
    expect(page).toContain('You have already answered');
    const all = await readJson<LiveForm>(
      fetch(form.links.all ?? '', { headers: { Accept: 'application/json' } }),
    );
    expect(all.elements[0]?.previous?.answers).toEqual(['accepted']);
    expect((await person.submit({})).status).toBe(200);
    expect((await recordsOf(shop, subject))[one.key]).toHaveLength(1);
  });

  it('asks again about everything if the information has a new MAJOR', async () => {
    const info = await element({ en: { title: 'Who we are', header: '<p>One company.</p>' } }, 'information');
    const one = await element({ en: processing('News.') });
    const subject = `info-${randomUUID()}`;
    const layoutData = { info: info.key, elements: [one.key] };
    await recordAnswers(shop, subject, answersOf([one], 'accepted'), { layoutData });
    await info.change({ en: { title: 'Who we are', header: '<p>Two companies.</p>' } }, 'MAJOR');
    const { form } = await openForm(subject, [one], { layoutData });
    expect(form.elements).toHaveLength(1);
    expect(form.info.change?.fields).toMatchObject([
      { field: 'header', old: 'One company.', new: 'Two companies.' },
    ]);
  });

  it('returns a committed transaction for an equal context only while all its elements have a valid answer', async () => {
    const [one, two] = await Promise.all([
      element({ en: processing('A.') }),
      element({ en: processing('B.') }),
    ]);
    const subject = `equal-${randomUUID()}`;
    await recordAnswers(shop, subject, answersOf([one], 'accepted'));
    const context = { subject, layoutData: { elements: [one.key, two.key] }, ask: 'CHANGED' };
    const first = await createTransaction(shop, context);
    await subjectOf(instance, first).submit(answersOf([two], 'refused'));
    const again = await shop.send('POST', '/consents', context);
    expect([again.status, (await readJson<{ id: string }>(again)).id]).toEqual([200, first.id]);
    await one.change({ en: processing('A, and more.') }, 'MAJOR');
    expect((await shop.send('POST', '/consents', context)).status).toBe(201);
  });

  it('counts answers that were given under another information', async () => {
    const [other, one] = await Promise.all([
      element({ en: { title: 'Another information' } }, 'information'),
      element({ en: processing('News.') }),
    ]);
    const subject = `elsewhere-${randomUUID()}`;
    const layoutData = { info: other.key, elements: [one.key] };
    await recordAnswers(shop, subject, answersOf([one], 'accepted'), { layoutData });
    const { made, person, form } = await openForm(subject, [one]);
    expect(form.kept).toHaveLength(1);
    expect((await person.submit({})).status).toBe(200);
    const context = { subject, layoutData: { elements: [one.key] }, ask: 'CHANGED' };
    const again = await shop.send('POST', '/consents', context);
    expect([again.status, (await readJson<{ id: string }>(again)).id]).toEqual([200, made.id]);
  });

  it('is answered once by a single step that is repeated, also if it keeps answers under another information', async () => {
    const [other, one, two] = await Promise.all([
      element({ en: { title: 'Another information' } }, 'information'),
      element({ en: processing('A.') }),
      element({ en: processing('B.') }),
    ]);
    const subject = `step-${randomUUID()}`;
    const before = { info: other.key, elements: [one.key] };
    await recordAnswers(shop, subject, answersOf([one], 'accepted'), { layoutData: before });
    const context = { subject, layoutData: { elements: [one.key, two.key] }, ask: 'CHANGED' };
    const values = answersOf([two], 'refused');
    const step = () => shop.send('POST', '/consents/singlestep', { context, values });
    const [first, again] = [await step(), await step()];
    expect([first.status, again.status]).toEqual([201, 200]);
    expect((await readJson<{ id: string }>(again)).id).toBe((await readJson<{ id: string }>(first)).id);
    expect((await recordsOf(shop, subject))[two.key]).toHaveLength(1);
  });

  it('is answered anew by a single step that is repeated after a withdrawal', async () => {
    const one = await element({ en: processing('A.') });
    const subject = `again-${randomUUID()}`;
    const context = { subject, layoutData: { elements: [one.key] }, ask: 'CHANGED' };
    const step = () =>
      shop.send('POST', '/consents/singlestep', { context, values: answersOf([one], 'accepted') });
    const { id } = await readJson<{ id: string }>(step());
    expect((await shop.send('POST', `/consents/${id}/withdraw`)).status).toBe(201);
    expect((await step()).status).toBe(201);
    const records = (await recordsOf(shop, subject))[one.key] ?? [];
    expect(records.map(({ value }) => value)).toEqual(['accepted', 'refused', 'accepted']);
  });

  it.each(['withdrawn', 'refused'])(
    'does not ask a notice again that was %s, whatever its version, because a form cannot give it',
    async (how) => {
      const consent = { legalBases: ['LEGAL_BASIS_CONSENT'] };
      const notice = await element({
        en: processing('A notice.', { ...consent, refusable: how === 'refused' }),
      });
      const other = await element({ en: processing('News.') });
      const subject = `notice-${how}-${randomUUID()}`;
      const context = { subject, layoutData: { elements: [other.key, notice.key] }, ask: 'CHANGED' };
      if (how === 'refused') await recordAnswers(shop, subject, answersOf([notice], 'refused'));
      const first = await createTransaction(shop, context);
      await subjectOf(instance, first).submit(answersOf([other], 'accepted'));
      if (how === 'withdrawn')
        await shop.send('POST', `/consents/${first.id}/withdraw`, { elements: [notice.key] });
      await notice.change({ en: processing('Another notice.', { ...consent, refusable: false }) }, 'MAJOR');

      const { made, form, person } = await openForm(subject, [other, notice]);
      expect([made.id === first.id, form.elements, form.kept?.length]).toEqual([false, [], 2]);
      expect((await person.submit({})).status).toBe(200);
      const again = await shop.send('POST', '/consents', context);
      expect([again.status, (await readJson<{ id: string }>(again)).id]).toEqual([200, made.id]);
      const records = (await recordsOf(shop, subject))[notice.key] ?? [];
      const values = records.map(({ value }) => value).sort();
      expect(values).toEqual(how === 'refused' ? ['refused'] : ['accepted', 'refused']);

      await notice.change({ en: processing('A question.', { ...consent, refusable: true }) }, 'MAJOR');
      expect((await shop.send('POST', '/consents', context)).status).toBe(201);
    },
  );

  it('asks everything in a child, and ignores the field with silent', async () => {
    const one = await element({ en: processing('News.') });
    const subject = `child-${randomUUID()}`;
    await recordAnswers(shop, subject, answersOf([one], 'accepted'));
    const silent = await openForm(subject, [one], { silent: true });
    expect(silent.form.elements).toHaveLength(1);
    expect(silent.form.kept).toBeUndefined();
    const { made, person } = await openForm(subject, [one]);
    await person.submit({});
    const child = await readJson<{ id: string; token: string }>(
      shop.send('POST', `/consents/${made.id}/child`),
    );
    expect((await subjectOf(instance, child).form()).elements).toHaveLength(1);
  });

  it('is refused for another value than CHANGED', async () => {
    const context = { subject: 'x', layout: 'layout.001', ask: 'ALL' };
    const problem = await problemOf(await shop.send('POST', '/consents', context));
    expect(problem).toMatchObject({ said: '422 invalid', errors: [{ pointer: '/ask' }] });
  });
});

it('an old text in another language is marked with it, in JSON and on the page', async () => {
  const one = await element({ en: processing('News.') });
  const subject = `languages-${randomUUID()}`;
  await recordAnswers(shop, subject, answersOf([one], 'accepted'));
  await one.change(
    {
      en: processing('News.'),
      ar: processing('أخبار', { title: 'رسائل' }),
      fr: processing('Des nouvelles.'),
    },
    'MAJOR',
  );
  for (const [language, dir] of [
    ['fr', 'ltr'],
    ['ar', 'rtl'],
  ] as const) {
    const { form, made } = await openForm(subject, [one], { language });
    expect(fieldOf(form, 'usage')).toMatchObject({ old: 'News.', oldLanguage: 'en' });
    const page = await instance.fetch(`/consents/${made.id}/submit?t=${made.token}`, {
      headers: { Accept: 'text/html' },
    });
    const html = await page.text();
    expect(html).toContain(`<html lang="${language}" dir="${dir}"`);
    expect(html).toMatch(/<del lang="en" dir="ltr"><span[^>]*>[^<]*<\/span>News\./);
    expect(html).toMatch(/<dd class="lines" lang="en" dir="ltr">News\.</);
  }
});
