import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { qrImage } from '#lib/pages/qr-code.ts';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { activateContent, makeLiveModel } from '../support/instances/live-models.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';
import { plainSpaces } from '../support/pages/plain-spaces.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

const instance = useInstance();
let operator: ConsolePages;
beforeAll(async () => {
  operator = await openPages(instance, 'operator');
});
afterAll(() => operator?.close());

const here = '/console/subjects';
const question = 'element/processing/processing.001/1.0';
const textOf = async (path: string, pages = operator) => (await pages.get(path)).text();
const locationOf = (response: Response) => response.headers.get('location') ?? '';
/** Searches for a person. @returns where it leads: to the only person that is found, else to a list. */
const search = async (word: string, pages = operator) => locationOf(await pages.post(here, { word }));
/** The path of a person's page. */
const pageOf = (name: string, pages = operator): Promise<string> => search(name, pages);
async function answer(subject: string, decision: string): Promise<void> {
  const caller = await signIn(instance, 'operator');
  const context = { subject, layoutData: { elements: ['processing.001'] } };
  await caller.send('POST', '/consents/singlestep', { context, values: { [question]: [decision] } });
}

describe('subjects in the console', () => {
  it('are found by their whole e-mail address or telephone number', async () => {
    const caller = await signIn(instance, 'operator');
    const subjectInfos = { emailAddress: 'tess@example.org', phoneNumber: '+44 7700 900123' };
    await caller.send('POST', '/consents', { subject: 'patient 9', layout: 'layout.001', subjectInfos });
    for (const word of ['Tess@example.org', '+447700900123'])
      expect(await search(word)).toBe(await pageOf('patient 9'));
    expect(await textOf(await pageOf('patient 9'))).toContain('<h1>patient 9</h1>');
    expect(await textOf(await search('none@example.org'))).toContain('No person has “none@example.org”');
  });

  it('are found by a part of their name, which is in no URL, and always at the same one', async () => {
    await answer('Ann Example', 'accepted');
    const alone = await search('Ann Ex');
    expect(await textOf(alone)).toContain('<h1>Ann Example</h1>');
    await answer('Ann Exeter', 'accepted');
    const found = await search('Ann Ex');
    expect(found).toMatch(/^\/console\/subjects\?s=[\w-]+$/);
    expect(await search('Ann Ex')).toBe(found);
    const html = await textOf(found);
    expect(html).toContain('Ann Example');
    expect(html.match(/(href|action|src)="[^"]*"/g)?.join()).not.toMatch(/Ann/);
    expect(await textOf(`${found}&format=csv`)).toContain('Ann Example');
    expect(instance.logs()).not.toContain('Ann Ex');
  });

  it('and transactions are found by the search of every page', async () => {
    await answer('kim', 'accepted');
    const html = await textOf(await pageOf('kim'));
    expect(html).toContain('<form class="search" role="search" method="post" action="/console/subjects">');
    const path = /href="(\/console\/transactions\/([^"]+))"/.exec(html);
    expect(await search(path?.[2] ?? '')).toBe(path?.[1]);
  });

  it.each([
    [here, 'word'],
    ['/console/transactions', 'subject'],
    [`${here}/answers`, 'answer'],
  ])(
    'are searched for at %s with a text that fits in a URL, and longer ones are a message',
    async (path, field) => {
      const longest = await operator.post(path, { [field]: 'é'.repeat(900) });
      expect([longest.status, locationOf(longest).length < 4_000]).toEqual([303, true]);
      const refused = await operator.post(path, { [field]: 'a'.repeat(25_000) });
      expect([refused.status, await refused.text()]).toEqual([414, expect.stringContaining('at most 1,000')]);
    },
  );

  it('have no page at an address that was not made here', async () => {
    const path = await pageOf('Ann Example');
    expect((await operator.get(path)).status).toBe(200);
    const changed = path.slice(0, -1) + (path.endsWith('A') ? 'B' : 'A');
    expect((await operator.get(changed)).status).toBe(404);
    expect((await operator.get(`${here}?s=Ann`)).status).toBe(404);
  });

  it('show what counts of each question, all answers with status in words, and their transactions', async () => {
    await answer('bert', 'accepted');
    await answer('bert', 'refused');
    const html = await textOf(await pageOf('bert'));
    for (const text of [
      'processing.001',
      'Withdrawn',
      'Accepted',
      'There is a newer answer',
      'Form',
      'Answered',
    ])
      expect(html).toContain(text);
    // Each answer leads to its transaction: one valid, two in the history.
    expect(html.match(/<a href="\/console\/transactions\/\w+"><time/g)).toHaveLength(3);
  });

  it('say first of an answer that it does not count any more, and not until when it would have', async () => {
    const admin = await signIn(instance, 'admin');
    const content = sampleContent.processing;
    const model = await makeLiveModel(admin, 'processing', { en: content });
    await recordAnswers(admin, 'olaf', { [`element/processing/${model.key}/1.0`]: ['accepted'] });
    const rowOf = async () => {
      const rows = (await textOf(await pageOf('olaf'))).split('<tr');
      return rows.find((row) => row.includes(`/elements/${model.key}"`)) ?? '';
    };
    expect(await rowOf()).toMatch(/Accepted.*<time.*<time/s);
    await activateContent(admin, model, { en: { ...content, usage: 'Something else' } }, 'MAJOR');
    const row = await rowOf();
    expect(row).toMatch(/No longer counts.*Accepted · The question has changed since/s);
    expect(row.match(/<time/g)).toHaveLength(1);
  });

  it('have each consent withdrawn alone, by letter or telephone, in the name of the clerk', async () => {
    const person = 'two consents';
    const caller = await signIn(instance, 'operator');
    const keys = ['processing.001', 'processing.002'];
    const context = { subject: person, layoutData: { elements: keys } };
    const values = Object.fromEntries(keys.map((key) => [`element/processing/${key}/1.0`, ['accepted']]));
    await caller.send('POST', '/consents/singlestep', {
      context: { ...context, object: 'boat', layoutData: { elements: ['processing.001'] } },
      values: { [question]: ['accepted'] },
    });
    await caller.send('POST', '/consents/singlestep', { context, values });
    const path = await pageOf(person);
    const withdrawals = [...(await textOf(path)).matchAll(/href="([^"]*\/withdraw\?[^"]*)"/g)].map(
      ([, href = '']) => href.replaceAll('&amp;', '&'),
    );
    expect(withdrawals).toHaveLength(3);
    const about = new URLSearchParams(
      withdrawals.find((href) => href.includes('processing.002'))?.split('?')[1],
    ).get('transaction') as string;
    const first = withdrawals.find((href) => href.includes('processing.001') && href.includes(about)) ?? '';
    const asked = await textOf(first);
    expect(asked).toContain('The consent ends at once');
    expect(asked).toMatch(/<h1>Withdraw “[^”]+” for two consents\?<\/h1>/);
    const sent = {
      element: 'processing.001',
      transaction: about,
      way: 'TELEPHONE',
      givenOn: '2026-04-02',
      comment: 'Called at noon',
    };
    const another = await pageOf('bert');
    expect((await operator.post(`${another}/withdraw`, sent)).status).toBe(404);
    const without = await operator.post(`${path}/withdraw`, { ...sent, way: '' });
    expect(without.status).toBe(422);
    expect(await without.text()).toContain('href="#field-way"');
    const done = await operator.post(`${path}/withdraw`, sent);
    expect([done.status, locationOf(done)]).toEqual([303, expect.stringContaining(path)]);
    const html = await textOf(path);
    expect(html).toMatch(/Withdrawn(?:(?!<\/tr>).)*By telephone/s);
    // The consent about the boat stays.
    expect(html.match(/\/withdraw\?/g)).toHaveLength(2);
    const records = (await (await caller.get(`/subjects/${person}/records`)).json()) as Record<
      string,
      { value: string; comment?: string; origin: string; author: string; withdraws?: string }[]
    >;
    const [newest] = records['processing.001'] ?? [];
    expect(newest).toMatchObject({
      value: 'refused',
      comment: 'Called at noon',
      way: 'TELEPHONE',
      givenOn: '2026-04-02',
      origin: 'OPERATOR',
      withdraws: expect.any(String),
    });
    expect(newest?.author).not.toBe(person);
    expect((records['processing.002'] ?? []).map(({ value }) => value)).toEqual(['accepted']);
  });

  it('have a withdrawal that says how it came itself, and not how the consent did', async () => {
    const caller = await signIn(instance, 'operator');
    const collection = { way: 'PAPER', givenOn: '2026-03-12', reference: 'folder 7' };
    const context = { subject: 'by letter', layoutData: { elements: ['processing.001'] } };
    await caller.send('POST', '/consents/singlestep', {
      context: { ...context, origin: 'OPERATOR', collection },
      values: { [question]: ['accepted'] },
    });
    const path = await pageOf('by letter');
    const link =
      /href="([^"]*\/withdraw\?[^"]*)"/.exec(await textOf(path))?.[1]?.replaceAll('&amp;', '&') ?? '';
    const { element = '', transaction = '' } = Object.fromEntries(new URL(link, 'http://x').searchParams);
    const sent = { element, transaction, way: 'LETTER', givenOn: '2126-01-01' };
    const late = await operator.post(`${path}/withdraw`, sent);
    expect([late.status, await late.text()]).toEqual([422, expect.stringContaining('href="#field-givenOn"')]);
    await operator.post(`${path}/withdraw`, { ...sent, givenOn: '2026-05-01', reference: 'tray 3' });
    const [id] = /[^/"]+(?="><bdi>[^<]*2026<)/.exec(await textOf(path)) ?? [];
    const page = await textOf(`/console/transactions/${id}`);
    expect(page).toMatch(/By letter or e-mail[\s\S]*(1\sMay|May\s1,) 2026[\s\S]*tray 3/);
    expect(page).not.toMatch(/folder 7|On paper|\/withdraw"/);
    const receipt = (await (await caller.get(`/receipts/${id}`)).json()) as { collection?: object };
    expect(receipt.collection).toEqual({ way: 'LETTER', givenOn: '2026-05-01', reference: 'tray 3' });
  });

  it('say at the withdrawal of an answer that cannot be withdrawn why', async () => {
    await answer('dora', 'refused');
    const path = await pageOf('dora');
    expect(await textOf(path)).not.toContain('/withdraw?');
    const id = /href="\/console\/transactions\/([^"?]+)"/.exec(await textOf(path))?.[1] ?? '';
    const sent = { element: 'processing.001', transaction: id, way: 'PAPER' };
    const refused = await operator.post(`${path}/withdraw`, sent);
    expect(refused.status).toBe(409);
    expect((await operator.get(`${path}/withdraw`)).status).toBe(404);
  });

  it('are exported as a document for the person and as JSON, both as files', async () => {
    await answer('cleo', 'accepted');
    const path = await pageOf('cleo');
    const html = await textOf(path);
    for (const [end, name, text] of [
      [
        'document/export',
        /^attachment; filename="Riverside-cleo-export-\d{4}-\d\d-\d\d\.html"$/,
        '<h1>Your data at',
      ],
      ['export', /^attachment; filename="Riverside-cleo-export-\d{4}-\d\d-\d\d\.json"$/, '"transactions":['],
    ] as const) {
      expect(html).toContain(`href="${path}/${end}"`);
      const file = await operator.get(`${path}/${end}`);
      expect(file.headers.get('content-disposition')).toMatch(name);
      const content = await file.text();
      expect(content).toContain(text);
      expect(content).toContain('cleo');
    }
  });

  it('are created once, and changed', async () => {
    const made = await operator.fill(`${here}/new`, { name: 'carla', emailAddress: 'carla@example.org' });
    expect(locationOf(made)).toMatch(/done=subjectMade$/);
    expect((await operator.fill(`${here}/new`, { name: 'carla' })).status).toBe(409);
    const path = await pageOf('carla');
    const twin = { name: 'carlo', emailAddress: 'Carla@example.org' };
    const warned = await operator.fill(`${here}/new`, twin);
    expect(warned.status).toBe(409);
    expect(await warned.text()).toMatch(new RegExp(`<a class="button" href="${path}"><bdi>carla</bdi></a>`));
    const same = await operator.fill(`${here}/new`, { ...twin, known: twin.emailAddress });
    expect(locationOf(same)).toMatch(/done=subjectMade$/);
    const changed = await operator.post(`${path}/edit`, {
      emailAddress: 'c@example.org',
      defaultLanguage: 'fr',
    });
    expect(changed.status).toBe(303);
    expect(await textOf(path)).toMatch(/c@example\.org[\s\S]*French/);
    const wrong = await operator.post(`${path}/edit`, { emailAddress: 'nowhere', defaultLanguage: '' });
    expect(wrong.status).toBe(422);
    expect(await wrong.text()).toContain('value="nowhere"');
  });

  it('are chosen or added for a form, which is chosen then', async () => {
    await answer('nora', 'accepted');
    const form = await textOf('/console/forms/layout.001');
    const path = /href="(\/console\/subjects\?form=[^"]+)"/.exec(form)?.[1] ?? '';
    const list = await textOf(path);
    expect(list).toContain('To whom is the form to be sent?');
    expect(list).toMatch(/href="\/console\/subjects\/[\w-]+\/link\?form=layout.001"/);
    const found = locationOf(await operator.post(here, { word: 'nora', form: 'layout.001' }));
    expect(found).toMatch(/\/link\?form=layout.001$/);
    expect(await textOf(found)).toContain('<option value="layout.001" selected');
    const added = await operator.fill(`${here}/new?form=layout.001`, { name: 'nick', form: 'layout.001' });
    expect(locationOf(added)).toMatch(/\/link\?form=layout.001&done=subjectMade$/);
  });

  it('get a link to a form, which is shown once', async () => {
    await answer('dora', 'accepted');
    const response = await operator.fill(`${await pageOf('dora')}/link`, { layout: 'layout.001' });
    const link = /<textarea class="code"[^>]*>\s*([^<]+)</.exec(await response.text())?.[1]?.trim() ?? '';
    const form = await fetch(link.replaceAll('&amp;', '&'), { headers: { Accept: 'text/html' } });
    expect(form.status).toBe(200);
  });

  it('are listed by what they answered', async () => {
    await answer('emil', 'refused');
    await answer('fay', 'accepted');
    expect(await textOf(`${here}/answers`)).toContain('Choose an element');
    const find = async (element: string, given: string) =>
      locationOf(await operator.post(`${here}/answers`, { element, answer: given }));
    const accepted = await textOf(await find('processing.001', 'accepted'));
    expect(accepted).toContain('fay');
    expect(accepted).not.toContain('emil');
    const refused = await find('processing.001', 'refused');
    expect(await textOf(`${refused}&format=csv`)).toContain('emil,refused');
    // An answer to another element is no answer to this one.
    const other = await textOf(refused.replace('processing.001', 'processing.002'));
    expect(other).toMatch(/aria-current="true">Accepted \(\d+\)<\/a>/);
    // Each answer is a link to the people who gave it.
    const others = /href="([^"]+&amp;a=[^"]+)">Refused \(\d+\)<\/a>/.exec(accepted)?.[1] ?? '';
    expect(await textOf(others.replaceAll('&amp;', '&'))).toContain('emil');
  });

  it('are counted beside the links to their answers', async () => {
    const admin = await signIn(instance, 'admin');
    const model = await makeLiveModel(admin, 'processing', { en: sampleContent.processing });
    const identifier = `element/processing/${model.key}/1.0`;
    for (const [name, decision] of [
      ['cora', 'accepted'],
      ['cleo', 'accepted'],
      ['carl', 'refused'],
    ] as const)
      await recordAnswers(admin, name, { [identifier]: [decision] });
    const html = await textOf(`${here}/answers?element=${model.key}`);
    expect(html).toContain('>Accepted (2)</a>');
    expect(html).toContain('>Refused (1)</a>');
  });

  it('have the languages of forms first, in the order of their use', async () => {
    const admin = await signIn(instance, 'admin');
    await makeLiveModel(admin, 'layout', {
      en: { elements: ['processing.001'] },
      sl: { elements: ['processing.001'] },
    });
    await admin.send('POST', '/subjects', { name: 'lara' });
    const path = await pageOf('lara');
    for (const each of [`${here}/new`, `${path}/edit`, `${path}/link`]) {
      const names = [...(await textOf(each)).matchAll(/<option value="([a-z]{2})"/g)].map(([, tag]) => tag);
      expect(names.indexOf('en'), each).toBe(0);
      expect(names.indexOf('sl'), each).toBeLessThan(names.indexOf('ab'));
      expect(new Set(names).size, each).toBe(names.length);
    }
  });

  it('are listed by an answer that is in no URL, also if it is a free text', async () => {
    const admin = await signIn(instance, 'admin');
    const content = { en: { label: 'Allergies?', valueType: 'FREE_TEXT' } };
    const { key } = await makeLiveModel(admin, 'preference', content);
    const context = { subject: 'gil', layoutData: { elements: [key] } };
    const values = { [`element/preference/${key}/1.0`]: ['Peanuts only'] };
    expect((await admin.send('POST', '/consents/singlestep', { context, values })).ok).toBe(true);
    const form = await textOf(`${here}/answers?element=${key}`);
    expect(form).toMatch(/<form class="form" method="post" action="\/console\/subjects\/answers"/);
    const found = locationOf(
      await operator.post(`${here}/answers`, { element: key, answer: 'Peanuts only' }),
    );
    expect(found).toMatch(new RegExp(`^${here}/answers\\?element=${key}&a=[\\w-]+$`));
    const html = await textOf(found);
    expect(html).toContain('gil');
    expect(html.match(/(href|action|src|hx-get)="[^"]*"/g)?.join()).not.toMatch(/Peanuts/);
    expect(instance.logs()).not.toContain('Peanuts');
  });

  it('lead from a transaction to the person, and from the person to all transactions', async () => {
    await answer('gus', 'accepted');
    const html = await textOf(await pageOf('gus'));
    const transaction = /href="(\/console\/transactions\/[^"]+)"/.exec(html)?.[1] ?? '';
    expect(await textOf(transaction)).toContain(await pageOf('gus'));
    const all = /href="(\/console\/transactions\?s=[^"]+)"/.exec(html)?.[1] ?? '';
    expect(await textOf(all)).toContain('Transactions of gus');
  });
});

describe('answering on behalf in the console', () => {
  const given = {
    way: 'PAPER',
    givenOn: '2026-03-12',
    comment: 'Signed at the desk',
    reference: 'file 12',
    elements: 'processing.001',
  };

  async function refused(path: string, fields: Record<string, string>): Promise<string> {
    const response = await operator.post(path, fields);
    expect(response.status).toBe(422);
    return response.text();
  }

  it('shows the form in the language of the person, beside the answers', async () => {
    const caller = await signIn(instance, 'operator');
    await caller.send('POST', '/subjects', { name: 'hugo', defaultLanguage: 'fr' });
    const path = `${await pageOf('hugo')}/record`;
    expect(await textOf(`${path}?choose=yes`)).toMatch(/value="fr" selected/);
    // The form that the person was asked with needs no choice.
    await caller.send('POST', '/consents', { subject: 'hugo', layout: 'layout.001' });
    expect(await textOf(path)).toMatch(/<iframe[^>]* src="[^"]*form=layout\.001[^"]*language=fr"/);
    const html = await textOf(`${path}?form=layout.001&language=fr`);
    const frame = /<iframe[^>]* src="([^"]+)"/.exec(html)?.[1]?.replaceAll('&amp;', '&') ?? '';
    expect(await textOf(frame)).toMatch(/<html[^>]* lang="fr"/);
    // Staff reads the questions and options in its own language, too.
    expect(html).toContain('La lettre du programme – The programme letter');
    expect(html).toContain('Une fois par mois – Once a month');
  });

  it('keeps a scan with the answers, which staff can open', async () => {
    const path = `${await pageOf('hugo')}/record`;
    const scan = new File(['%PDF-1.7 signed'], 'consent.pdf', { type: 'application/pdf' });
    const review = await (
      await operator.upload(path, { ...given, [question]: 'accepted', op: 'review', scan })
    ).text();
    expect(review).toContain('consent.pdf');
    const hidden = Object.fromEntries(
      [...review.matchAll(/name="([^"]+)" value="([^"]*)"/g)].map(([, name, value]) => [name, value]),
    ) as Record<string, string>;
    const made = locationOf(await operator.post(path, { ...hidden, op: 'send' })).replace(/\?.*/, '');
    const [transaction = ''] = /\/console\/transactions\/\w+(?="><bdi)/.exec(await textOf(made)) ?? [];
    const page = await textOf(transaction);
    for (const text of ['On paper', '12 March 2026']) expect(plainSpaces(page)).toContain(text);
    expect(await textOf(`${transaction}/scan`)).toBe('%PDF-1.7 signed');
    const none = new File(['<html>'], 'x.pdf', { type: 'application/pdf' });
    const bad = await operator.upload(path, { ...given, [question]: 'accepted', op: 'review', scan: none });
    expect(await bad.text()).toContain('Choose a PDF, JPEG or PNG file.');
  });

  it('asks with a form or elements, reviews, and records with origin, comment and reference', async () => {
    await answer('hana', 'refused');
    const path = `${await pageOf('hana')}/record`;
    expect(await textOf(`${path}?choose=yes`)).toContain('Programme letter');
    expect(await textOf(`${path}?form=layout.001`)).toContain(`name="${question}"`);
    const review = await operator.post(path, { ...given, [question]: 'accepted', op: 'review' });
    const html = await review.text();
    expect(html).toContain('Nothing is recorded yet.');
    expect(html).toContain('On paper');
    const once = /name="once" value="([^"]+)"/.exec(html)?.[1] ?? '';
    const sent = { ...given, [question]: 'accepted', op: 'send', once };
    expect(locationOf(await operator.post(path, sent))).toBe(`${path.replace('/record', '')}?done=recorded`);
    expect(locationOf(await operator.post(path, sent))).toContain('done=repeated');
    const page = await textOf(path.replace('/record', ''));
    expect(page).toMatch(/Signed at the desk[\s\S]*On paper/);
    const day = /<bdi>(12\sMarch|March\s12,|Mar\s12,) 2026<\/bdi><\/a><span class="note">recorded /;
    expect(page).toMatch(day);
    const accepted = await operator.post(`${here}/answers`, {
      element: 'processing.001',
      answer: 'accepted',
    });
    expect(await textOf(locationOf(accepted))).toMatch(day);
    expect(await textOf(`${path.replace('/record', '')}?done=recorded`)).toContain(
      'The answers are recorded.',
    );
  });

  it('records a question that was left blank on paper as no answer', async () => {
    await answer('ines', 'refused');
    const path = `${await pageOf('ines')}/record`;
    expect(await textOf(`${path}?elements=processing.001`)).toMatch(
      /value=" "[^>]*><span>No answer: left blank/,
    );
    const blank = { ...given, [question]: ' ' };
    const html = await (await operator.post(path, { ...blank, op: 'review' })).text();
    expect(html).toContain('No answer: left blank');
    const once = /name="once" value="([^"]+)"/.exec(html)?.[1] ?? '';
    const made = locationOf(await operator.post(path, { ...blank, op: 'send', once }));
    expect(made).toContain('done=recorded');
    const page = await textOf(path.replace('/record', ''));
    // The earlier answer stays.
    expect(page).toMatch(/Refused[\s\S]*<section[^>]*id="panel-transactions"/);
    const transaction = /\/console\/transactions\/(\w+)(?="><bdi)/.exec(page)?.[1];
    const caller = await signIn(instance, 'operator');
    const receipt = await (await caller.get(`/receipts/${transaction}?format=text`)).text();
    expect(receipt).toContain('No answer');
  });

  it('says what is missing, keeps what was typed, and records nothing', async () => {
    await answer('ivo', 'refused');
    const path = `${await pageOf('ivo')}/record`;
    const html = await refused(path, { ...given, reference: 'file 13', op: 'send' });
    expect(html).toContain('One entry needs your attention');
    expect(html).toMatch(/href="#field-element\/processing\/processing.001[^>]*>[^<]*/);
    expect(html).toContain('value="file 13"');
    const late = { ...given, [question]: 'accepted', givenOn: '2126-01-01' };
    for (const op of ['review', 'send'])
      expect(await refused(path, { ...late, op })).toContain('href="#field-givenOn"');
    expect(await textOf(path.replace('/record', ''))).not.toContain('Accepted');
  });

  it('adds nothing if just these answers are on record', async () => {
    await answer('jo', 'refused');
    const path = `${await pageOf('jo')}/record`;
    const record = async () => {
      const review = await operator.post(path, { ...given, [question]: 'accepted', op: 'review' });
      const once = /name="once" value="([^"]+)"/.exec(await review.text())?.[1] ?? '';
      return locationOf(await operator.post(path, { ...given, [question]: 'accepted', op: 'send', once }));
    };
    const first = await record();
    expect(await record()).toBe(first.replace('done=recorded', 'done=alreadyRecorded'));
  });
});

it.each(['en', 'fr', 'ar'])('pages of subjects have all their words in %s', async (language) => {
  await answer('words', 'accepted');
  const path = await pageOf('words');
  const pages = [here, `${here}/new`, `${here}/answers?element=processing.001`, path];
  pages.push(
    ...['/edit', '/link', '/record?choose=yes', '/record?form=layout.001'].map((each) => path + each),
  );
  for (const each of pages) {
    const html = await (await operator.get(each, { 'Accept-Language': language })).text();
    expect(html, each).not.toMatch(
      />(subjects|answers|record|link|answer|origin|statusExplanation)\.[a-zA-Z_.-]+</,
    );
  }
});

it('a person who was searched for in vain is added with what was typed', async () => {
  const html = await textOf(await search('new.person@example.org'));
  const form = await textOf(/href="([^"]+\/new\?s=[^"]+)"/.exec(html)?.[1] ?? '');
  expect(form).toMatch(/name="name" value="new.person@example.org"/);
  expect(form).toMatch(/name="emailAddress" value="new.person@example.org"/);
  expect(form).toContain('<option value="fr">French</option>');
});

describe('a form for a person', () => {
  const linkPage = async (name: string) => `${await pageOf(name)}/link`;
  it('is sent to the address of the person, which is filled in', async () => {
    const shop = await signIn(instance, 'operator');
    await shop.send('POST', '/subjects', { name: 'ruth', emailAddress: 'ruth@example.org' });
    const path = await linkPage('ruth');
    const html = await textOf(path);
    expect(html).toMatch(/name="emailAddress" value="ruth@example.org"/);
    const fields = { layout: 'layout.001', way: 'mail', emailAddress: 'ruth@example.org', deadline: 'P7D' };
    const made = locationOf(await operator.fill(path, fields));
    expect(made).toBe(`${await pageOf('ruth')}?done=invited`);
    expect(await textOf(made)).toContain('The form was sent.');
  });

  it('is no form that nobody chose, if several are active', async () => {
    const admin = await signIn(instance, 'admin');
    await makeLiveModel(admin, 'layout', { en: { type: 'layout', elements: ['processing.001'] } });
    await admin.send('POST', '/subjects', { name: 'rosa' });
    const path = await linkPage('rosa');
    expect(await textOf(path)).toMatch(/<option value="" selected[^>]*>Choose a form</);
    const fields = { layout: '', way: 'mail', emailAddress: 'rosa@example.org', deadline: 'P7D' };
    const refused = await operator.fill(path, fields);
    expect(refused.status).toBe(422);
    expect(await textOf(`${path}?form=layout.001`)).toContain('<option value="layout.001" selected');
  });

  it('asks for an address before anything is made, and keeps it', async () => {
    await answer('saul', 'accepted');
    const path = await linkPage('saul');
    expect(await textOf(path)).toContain('No e-mail address of this person is known.');
    const fields = { layout: 'layout.001', way: 'mail', emailAddress: '' };
    const refused = await operator.fill(path, fields);
    expect(refused.status).toBe(422);
    expect(await refused.text()).toContain('href="#field-emailAddress">E-mail address: Fill in this field.');
    const sent = await operator.fill(path, { ...fields, emailAddress: 'saul@example.org' });
    expect(locationOf(sent)).toMatch(/done=invited$/);
    expect(await textOf(path)).toContain('value="saul@example.org"');
  });

  it('is a link to pass on if that is chosen', async () => {
    await answer('tom', 'accepted');
    const made = await operator.fill(await linkPage('tom'), {
      layout: 'layout.001',
      way: 'link',
      language: 'fr',
    });
    expect(await made.text()).toContain('who has it can answer in this name');
  });

  it('has a link that is scanned from the screen, and asks and confirms as is chosen', async () => {
    await answer('wes', 'accepted');
    const path = await linkPage('wes');
    const page = await textOf(path);
    for (const name of ['ask', 'confirmation'])
      expect(page).toMatch(new RegExp(`name="${name}"><option value="">As the form says<`));
    const fields = { layout: 'layout.001', way: 'link', ask: 'CHANGED', confirmation: 'EMAIL_CODE' };
    const refused = await operator.fill(path, fields);
    expect([refused.status, await refused.text()]).toEqual([
      422,
      expect.stringContaining('href="#field-emailAddress">E-mail address: '),
    ]);
    const html = await (await operator.fill(path, { ...fields, emailAddress: 'wes@example.org' })).text();
    const url = /<textarea class="code" id="secret"[^>]*>\s*([^<]+)</.exec(html)?.[1] ?? '';
    expect(url).toMatch(/\/l\/[^/]+$/);
    expect(html).toContain(`<path d="${qrImage(url)?.path}"`);
    const id = /href="\/console\/transactions\/(\w+)"/.exec(html)?.[1];
    const admin = await signIn(instance, 'admin');
    expect(await (await admin.get(`/consents/${id}/context`)).json()).toMatchObject({
      ask: 'CHANGED',
      confirmation: 'EMAIL_CODE',
      subjectInfos: { emailAddress: 'wes@example.org' },
    });
  });

  it('can be answered for as long as the form says, unless another time is chosen', async () => {
    const admin = await signIn(instance, 'admin');
    const context = { timeout: 'P30D' };
    const form = await makeLiveModel(admin, 'layout', { en: { elements: ['processing.001'], context } });
    const timeoutOf = async (subject: string, chosen: Record<string, string>) => {
      const fields = { layout: form.key, way: 'link', ...chosen };
      const html = await (await operator.fill(await linkPage(subject), fields)).text();
      const id = /href="\/console\/transactions\/(\w+)"/.exec(html)?.[1];
      const context = (await (await admin.get(`/consents/${id}/context`)).json()) as { timeout: string };
      return context.timeout;
    };
    await answer('uma', 'accepted');
    await answer('vic', 'accepted');
    const page = await textOf(await linkPage('uma'));
    expect(page).toMatch(/name="deadline"><option value="">As the form says<\/option>(?!.*\bP7D" selected)/);
    expect(await timeoutOf('uma', {})).toBe('P30D');
    expect(await timeoutOf('vic', { deadline: 'P1D' })).toBe('P1D');
  });
});

describe('a form that was sent', () => {
  async function answerOnPaper(subject: string, decision: string): Promise<void> {
    const caller = await signIn(instance, 'operator');
    const collection = { way: 'PAPER', givenOn: '2026-03-12' };
    const layoutData = { elements: ['processing.001'] };
    const context = { subject, origin: 'OPERATOR', layoutData, collection };
    await caller.send('POST', '/consents/singlestep', { context, values: { [question]: [decision] } });
  }

  it('is said to be open after its questions were answered on paper, and is closed from there', async () => {
    const caller = await signIn(instance, 'operator');
    const layoutData = { elements: ['processing.001'] };
    const ask = async (object?: string) => {
      const sent = await caller.send('POST', '/consents', { subject: 'wanda', layoutData, object });
      return ((await sent.json()) as { id: string }).id;
    };
    const [open, ofBoat] = [await ask(), await ask('boat')];
    const page = await pageOf('wanda');
    const said = 'is still open, although its questions have been answered since';
    expect(await textOf(page)).not.toContain(said);
    await answerOnPaper('wanda', 'accepted');
    const html = await textOf(page);
    expect(html).toContain(said);
    expect(html).not.toContain(`/close/${ofBoat}`);
    const close = `${page}/close/${open}`;
    expect(html).toContain(`href="${close}"`);
    expect(await textOf(close)).toContain('<h1>Close the open form of wanda?</h1>');
    expect(locationOf(await operator.post(close, {}))).toBe(`${page}?done=formClosed`);
    const closed = await textOf(`${page}?done=formClosed`);
    expect(closed).toContain('The open form is closed.');
    expect(closed).not.toContain(said);
    expect(await (await caller.get(`/consents/${open}`)).json()).toMatchObject({ state: 'CANCELLED' });
  });

  it('is not said to be open if only a part of it was answered, or before it was sent', async () => {
    const caller = await signIn(instance, 'operator');
    await answerOnPaper('wilma', 'accepted');
    for (const elements of [['processing.001'], ['processing.001', 'processing.002']])
      await caller.send('POST', '/consents', { subject: 'wilma', layoutData: { elements } });
    expect(await textOf(await pageOf('wilma'))).not.toContain('is still open, although');
    await answerOnPaper('wilma', 'refused');
    expect((await textOf(await pageOf('wilma'))).match(/is still open, although/g)).toHaveLength(1);
  });
});

describe('holds and erasures in the console', () => {
  let admin: ConsolePages;
  beforeAll(async () => {
    admin = await openPages(instance, 'admin');
  });
  afterAll(() => admin?.close());
  const read = async (path: string) => (await admin.get(path)).text();

  it('hold a person, end the hold, export, and erase after the name was typed', async () => {
    await answer('otto', 'accepted');
    const page = await pageOf('otto', admin);
    expect(locationOf(await admin.post(`${page}/hold`, { reason: 'Claim 12', restrict: 'yes' }))).toContain(
      'done=held',
    );
    const shown = await read(page);
    expect(shown).toContain('Claim 12');
    const transaction = /href="(\/console\/transactions\/\w+)"/.exec(shown)?.[1] ?? '';
    expect(locationOf(await admin.post(`${page}/release`, {}))).toContain('done=holdEnded');
    expect(await (await admin.get(`${page}/export`)).json()).toMatchObject({ subject: { name: 'otto' } });
    expect(await read(`${page}/erase`)).toContain('Transactions: 1. Answers: 1.');
    const wrong = await admin.post(`${page}/erase`, { typed: 'Otto' });
    expect(wrong.status).toBe(422);
    expect(await wrong.text()).toContain('This is not the name of the person.');
    const location = locationOf(await admin.post(`${page}/erase`, { typed: 'otto', reason: '' }));
    expect(location).toMatch(/erasures\?done=erasing$/);
    await vi.waitFor(async () => expect(await read(location)).toContain('Done'), { timeout: 10_000 });
    const gone = await admin.get(page);
    expect(gone.status).toBe(404);
    expect(await gone.text()).toMatch(/This person was erased on \w/);
    expect(await read(`${page}/erase`)).toMatch(/This person was erased on \w/);
    const erased = await read(transaction);
    expect(erased).toContain('Erased');
    expect(erased).not.toMatch(/undefined|id="link"/);
  });

  it('say before a hold ends which erasure it lets go on, or refuse it', async () => {
    for (const name of ['petra', 'quentin']) await answer(name, 'accepted');
    const [petra, quentin] = [await pageOf('petra', admin), await pageOf('quentin', admin)];
    for (const [page, name] of [
      [petra, 'petra'],
      [quentin, 'quentin'],
    ] as const) {
      await admin.post(`${page}/hold`, { reason: 'Claim', restrict: 'no' });
      expect(await read(`${page}/erase`)).toContain('A hold is in force: the erasure waits');
      // Its success is not that it has started.
      expect(locationOf(await admin.post(`${page}/erase`, { typed: name }))).toMatch(/done=erasureHeld$/);
      const asked = await read(`${page}/release`);
      expect(asked).toMatch(
        /The erasure of [^<]+ waits: it goes on at once and deletes one transaction and one answer/,
      );
      expect(asked).toContain('End the hold and erase');
      expect(asked).toContain('End the hold and refuse the erasure');
    }
    // An erasure that the page has not named does not go on.
    expect((await admin.post(`${petra}/release`, {})).status).toBe(409);
    expect((await admin.post(`${petra}/release`, { act: 'refuse', ground: ' ' })).status).toBe(422);
    const kept = await admin.post(`${petra}/release`, { act: 'refuse', ground: 'Kept by law' });
    expect(locationOf(kept)).toBe(`${petra}?done=holdEndedRefused`);
    expect(await read(petra)).not.toContain('Claim');
    const html = await read(`${quentin}/release`);
    const held = /name="held" value="([^"]+)"/.exec(html)?.[1] ?? '';
    expect(locationOf(await admin.post(`${quentin}/release`, { held }))).toMatch(
      /erasures\?done=holdEndedErasing$/,
    );
    await vi.waitFor(async () => expect(await read(quentin)).toContain('This person was erased on'), {
      timeout: 10_000,
    });
    expect((await admin.get(petra)).status).toBe(200);
  });

  it('are started or refused with a ground on the page of the request', async () => {
    const person = await signIn(instance, 'user');
    const ask = async () => {
      const asked = await person.send('POST', '/choices/erasure', {});
      return `${here}/erasures/${((await asked.json()) as { id: string }).id}`;
    };
    const refused = await ask();
    expect(await read(refused)).toContain('Requested');
    expect((await operator.post(`${refused}/refuse`, { ground: 'Kept by law' })).status).toBe(403);
    const empty = await admin.post(`${refused}/refuse`, { ground: ' ' });
    expect(empty.status).toBe(422);
    const done = locationOf(await admin.post(`${refused}/refuse`, { ground: 'Kept by law' }));
    expect(await read(done)).toContain('Kept by law');
    expect(await read(refused)).not.toContain('Start the erasure');
    const started = await ask();
    await admin.post(`${started}/start`, {});
    await vi.waitFor(async () => expect(await read(started)).toContain('Done'), { timeout: 10_000 });
    expect((await admin.get(`${here}/erasures/nobody`)).status).toBe(404);
  });

  it('are requested by staff for a person who asked for it, and wait for an administrator', async () => {
    await answer('orla', 'accepted');
    const page = await pageOf('orla');
    expect(await textOf(page)).toContain(`href="${page}/erasure-request"`);
    expect(await read(await pageOf('orla', admin))).not.toContain('/erasure-request');
    expect(await textOf(`${page}/erasure-request`)).toContain('An administrator sees it and decides');
    const asked = locationOf(await operator.post(`${page}/erasure-request`, { reason: 'Letter of 2 May' }));
    expect(asked).toMatch(/\/erasures\/\w+\?done=erasureAsked$/);
    const shown = await textOf(asked);
    for (const text of ['An administrator decides about it.', 'Requested', 'Letter of 2 May'])
      expect(shown).toContain(text);
    expect(shown).not.toContain('Start the erasure');
    // Who is asked about it later sees it at the person.
    const told = await textOf(page);
    expect(told).toContain(`href="${asked.replace(/\?.*/, '')}"><bdi>Requested; due `);
    expect(told).not.toContain('/erasure-request');
    // Recorded twice, it is one request.
    expect(locationOf(await operator.post(`${page}/erasure-request`, {}))).toBe(asked);
    expect(await read('/console')).toMatch(/href="\/console\/subjects\/erasures"/);
    expect(await read(asked)).toContain('Start the erasure');
    const lines = await read('/console/audit?action=erasure.requested');
    expect(lines.match(/<td[^>]*><bdi>Request for erasure recorded/g)).toHaveLength(1);
  });

  it('are not offered to operators', async () => {
    await answer('olga', 'accepted');
    const page = await pageOf('olga');
    const html = await textOf(page);
    expect(html).not.toMatch(/\/(erase|hold)"/);
    // In the menu, which would lie upon what stands below it.
    expect(html).toMatch(/<li class="note">Only an administrator may erase a person\./);
    expect(await textOf(await pageOf('olga', admin), admin)).not.toContain('Only an administrator may erase');
    const refused = await operator.post(`${page}/erase`, { typed: 'olga' });
    expect(refused.status).toBe(403);
    expect(await refused.text()).toContain('with the role Administrator');
  });

  it.each(['en', 'fr', 'ar'])('have all their words in %s', async (language) => {
    await answer('oscar', 'accepted');
    const page = await pageOf('oscar', admin);
    for (const path of [
      page,
      `${page}/link`,
      `${page}/hold`,
      `${page}/release`,
      `${page}/erase`,
      `${here}/erasures`,
    ]) {
      const shown = await admin.get(path, { 'Accept-Language': language });
      expect(shown.status).toBe(200);
      const html = await shown.text();
      expect(html, path).not.toMatch(
        />(subjects|hold|erase|erasures|erasureState|invite|link)\.[a-zA-Z.-]+</,
      );
    }
  });
});
