import { afterAll, describe, expect, it, vi } from 'vitest';
import { createConsolePerson, submitSignIn } from '../support/console/console-person.ts';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass, rowsOf } from '../support/instances/live-database.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { beginAt, ledTo as leadsTo, publishForm } from '../support/instances/live-public-forms.ts';
import { complete, letter, problemOf, subjectOf, transactionIn } from '../support/instances/live-subject.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';
import { codeIn, startMailServer } from '../support/network/mail-server.ts';
import { languagesOn, parsePage } from '../support/pages/parse-page.ts';
import { plainSpaces } from '../support/pages/plain-spaces.ts';
import { elementsOf, readPdf } from '../support/pages/read-pdf.ts';
import { until } from '../support/run/until.ts';

const server = await startMailServer();
const instance = useInstance({
  MAIL_URL: server.url,
  MAIL_FROM: 'consent@riverside.example',
  INSTANCE_TIME_ZONE: 'Pacific/Auckland',
  RATE_LIMITS: 'transaction=1000,public=100',
});
const admin: Caller = useSetup(() => signIn(instance, 'admin'));
const shop: Caller = useSetup(() => createKey(instance));
afterAll(() => server.close());

const elements = ['processing.001', 'processing.002', 'preference.001'];

const publish = (form: Record<string, unknown>, layout: Record<string, unknown> = {}) =>
  publishForm(admin, form, { elements, ...layout });
const begin = (path: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}) =>
  beginAt(instance, path, fields, headers);
const ledTo = (response: Response) => leadsTo(instance, response);

const read = async (path: string, headers: Record<string, string> = {}) => {
  const response = await instance.fetch(path, { headers: { Accept: 'text/html', ...headers } });
  return { status: response.status, text: await response.text() };
};

const representation = async (id: string) => transactionIn(await shop.get(`/consents/${id}`));

describe('a form without an address of its own', () => {
  it('is not found at one', async () => {
    expect((await read('/f/layout.001')).status).toBe(404);
    expect((await begin('/f/layout.001')).status).toBe(404);
    expect((await read('/f/nothing')).status).toBe(404);
  });
});

describe('a form that anybody answers without a name', () => {
  it('says who asks, and creates nothing before its button', async () => {
    const path = await publish({ identify: 'ANONYMOUS' });
    const count = async () => (await rowsOf(instance, 'SELECT FROM transactions.transactions')).length;
    const before = await count();
    const page = await read(path);
    expect(page).toMatchObject({ status: 200 });
    expect(page.text).toContain('Go to the form');
    expect(page.text).toContain('only its link leads back');
    expect((await read(path, { 'Accept-Language': 'ar' })).text).toContain('dir="rtl"');
    expect(await count()).toBe(before);
  });

  it('makes a person of its own for everybody who begins, and the last page says what leads back', async () => {
    const path = await publish({ identify: 'ANONYMOUS' });
    const [one, other] = [ledTo(await begin(path)), ledTo(await begin(path))];
    expect(one.id).not.toBe(other.id);
    await one.person.submitForm(complete);
    const { subject, state } = await representation(one.id);
    expect(subject).toMatch(/^anonymous:[1-9A-HJ-NP-Za-km-z]{22}$/);
    expect(state).toBe('COMMITTED');
    expect(await (await one.person.get('', 'text/html')).text()).toContain(
      'Only the link on your receipt leads back',
    );
  });

  it('does not begin for a program that fills in every field', async () => {
    const path = await publish({ identify: 'ANONYMOUS' });
    const refused = await begin(path, { website: 'https://spam.example' });
    expect(refused.status).toBe(422);
    expect(await refused.text()).toContain('This field has to be empty');
  });

  it('is over after its last day, in the time zone of the instance', async () => {
    const day = new Intl.DateTimeFormat('en-CA', { timeZone: 'Pacific/Auckland' }).format(new Date());
    const path = await publish({ identify: 'ANONYMOUS', until: day });
    expect((await read(path)).status).toBe(200);
    await letTimePass(instance, '25 hours');
    expect(await read(path)).toMatchObject({
      status: 410,
      text: expect.stringContaining('This form is closed'),
    });
    expect((await begin(path)).status).toBe(410);
    expect((await problemOf(await begin(path, {}, { Accept: 'application/json' }))).said).toBe('410 expired');
    await letTimePass(instance, '0 hours');
  });
});

describe('a form that asks for an e-mail address', () => {
  it('takes effect with the code alone, and shows no earlier answers before it', async () => {
    await recordAnswers(shop, 'Ann@example.org', { [letter]: ['accepted'] });
    const path = await publish({ identify: 'EMAIL' }, { existingElementsVisible: false });
    const { id, person } = ledTo(await begin(path, { emailAddress: ' Ann@EXAMPLE.org ' }));
    const form = await person.form();
    expect(form.elements.map(({ previous }) => previous)).toEqual([null, null, null]);
    expect(await transactionIn(await person.submit())).toMatchObject({ state: 'SUBMITTED' });
    await until(() => expect(server.to('Ann@example.org')).toHaveLength(1));
    const [mail] = server.to('Ann@example.org');
    const confirmed = await instance.fetch(`/consents/${id}/confirm?t=${form.token}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ code: codeIn(mail as NonNullable<typeof mail>) }),
    });
    const committed = await transactionIn(confirmed);
    expect(committed.state).toBe('COMMITTED');
    expect(await representation(id)).toMatchObject({
      subject: 'Ann@example.org',
      context: { confirmation: 'EMAIL_CODE', origin: 'WEBFORM' },
    });
    // The person who has entered the code sees the answers when changing them.
    const child = await transactionIn(
      await subjectOf(instance, { id, token: committed.token }).post('/child'),
    );
    const { elements: asked } = await subjectOf(instance, child).form();
    expect(asked.map(({ previous }) => previous?.answers)).toEqual([
      ['accepted'],
      ['refused'],
      ['Every week'],
    ]);
  });

  it('never gives anybody the transaction of another person with the same address', async () => {
    const path = await publish({ identify: 'EMAIL' });
    const address = { emailAddress: 'bea@example.org' };
    const [one, other] = [ledTo(await begin(path, address)), ledTo(await begin(path, address))];
    expect(one.id).not.toBe(other.id);
  });

  it('shows the address again if it is none', async () => {
    const path = await publish({ identify: 'EMAIL' });
    for (const emailAddress of ['', 'ann', 'ann@', '"><script>@example.org', 'ann/../bob@example.org']) {
      const refused = await begin(path, { emailAddress });
      expect(refused.status).toBe(422);
      const text = await refused.text();
      expect(text).toContain('aria-invalid="true"');
      expect(text).not.toContain('<script>@');
    }
  });

  it('sends at most half of the daily codes to an address, so that other forms can still send theirs', async () => {
    const path = await publish({ identify: 'EMAIL' });
    const emailAddress = 'cleo@example.org';
    const statuses = [];
    for (let time = 0; time < 7; time++) {
      const { person } = ledTo(await begin(path, { emailAddress }));
      statuses.push((await person.submit()).status);
    }
    expect(statuses).toEqual([200, 200, 200, 200, 200, 429, 429]);
    const invited = await shop.send('POST', '/consents', {
      subject: emailAddress,
      layout: 'layout.001',
      confirmation: 'EMAIL_CODE',
      subjectInfos: { emailAddress },
    });
    const { id } = await transactionIn(invited);
    expect((await shop.send('POST', `/consents/${id}/submit`, complete)).status).toBe(200);
  });
});

describe('a form for people with an account', () => {
  it('leads strangers to the sign-in, and records who has signed in', async () => {
    const path = await publish({ identify: 'SIGN_IN' });
    expect((await read(path)).text).toContain(`href="/console/answer/${path.slice('/f/'.length)}"`);
    expect((await begin(path)).status).toBe(401);
    const user = await signIn(instance, 'user');
    const { id } = ledTo(await begin(path, {}, user.headers));
    expect(await representation(id)).toMatchObject({ subject: 'user', context: { origin: 'USER' } });
  });

  it('sends no code that its layout wants, because the account says who they are', async () => {
    const content = { type: 'layout', elements, public: { identify: 'SIGN_IN' } };
    const context = { confirmation: 'EMAIL_CODE', validity: 'P2Y' };
    const { key } = await makeLiveModel(admin, 'layout', { en: { ...content, context } });
    const user = await signIn(instance, 'user');
    const { id } = ledTo(await begin(`/f/${key}`, {}, user.headers));
    const expected = { context: { confirmation: 'NONE', validity: 'P2Y' } };
    expect(await representation(id)).toMatchObject(expected);
  });

  it('signs them in at the issuer of the instance, asks once, and leads them to the form', async () => {
    const path = await publish({ identify: 'SIGN_IN' });
    const [, href = ''] = /href="(\/console\/answer\/[^"]+)"/.exec((await read(path)).text) ?? [];
    const person = createConsolePerson(instance.url);
    const credentials = { username: 'user', password: 'demo' };
    const asked = await submitSignIn(person, await person.open(href), credentials);
    expect(asked.path).toBe(href);
    expect(asked.html).toContain('Answer as user');
    const form = await person.post(href, {});
    expect(form.path).toMatch(/^\/consents\/[^/]+\/submit\?t=/);
    expect((await person.post('/console/answer/layout.001', {})).status).toBe(404);
  });
});

describe('a person who reads another language than the page at the address', () => {
  it('is offered those of the form, and has the page and the form in the chosen one', async () => {
    const path = await publish({ identify: 'ANONYMOUS' });
    const links = languagesOn(parsePage((await read(path)).text));
    expect(links.map(({ attribs }) => attribs.hreflang)).toEqual(['fr', 'ar']);
    const chosen = (links[0]?.attribs.href ?? '').replace(instance.url, '');
    expect(chosen).toBe(`${path}?language=fr`);
    const french = parsePage((await read(chosen)).text);
    expect(french.tagged('html')[0]?.attribs.lang).toBe('fr');
    expect(languagesOn(french).map(({ attribs }) => attribs.hreflang)).toEqual(['en', 'ar']);
    const action = (french.tagged('form')[0]?.attribs.action ?? '').replace(instance.url, '');
    const form = (await begin(action)).headers.get('location') ?? '';
    expect((await read(form.replace(instance.url, ''))).text).toContain('<html lang="fr"');
  });

  it('is offered none after a fault, because a link would lose what was entered', async () => {
    const path = await publish({ identify: 'EMAIL' });
    const faulty = await begin(path, { emailAddress: 'ann@' });
    expect(faulty.status).toBe(422);
    expect(languagesOn(parsePage(await faulty.text()))).toEqual([]);
  });
});

describe('what is printed of a form', () => {
  it('is its address as QR code and as poster, with a page for each language', async () => {
    const content = { type: 'layout', elements, public: { identify: 'EMAIL', until: '2030-05-31' } };
    const form = await makeLiveModel(admin, 'layout', { en: content, fr: content, ar: content });
    const address = `/f/${form.key}`;
    // A PDF may be refused while the machine is busy.
    const poster = await until(async () => {
      const made = await shop.get(`/models/${form.id}/poster`);
      expect(made.status).toBe(200);
      return made;
    });
    expect(poster.headers.get('content-type')).toBe('application/pdf');
    const bytes = new Uint8Array(await poster.arrayBuffer());
    const { text, structure, links, metadata, language } = await readPdf(bytes);
    const roles = elementsOf(structure).map(({ role }) => role);
    expect(roles.filter((role) => role === 'H1')).toHaveLength(3);
    const figures = elementsOf(structure).filter(({ role }) => role === 'Figure');
    expect(figures.map(({ alt }) => alt)).toContainEqual(expect.stringMatching(`^QR code.*${address}$`));
    expect(new Set(links.map((link) => new URL(link).pathname))).toEqual(new Set([address]));
    expect(metadata).toContain('<pdfuaid:part>1</pdfuaid:part>');
    expect(language).toBe('en');
    expect(text).toContain('Scan the code');
    expect(text).toContain('Scannez le code');
    expect(plainSpaces(text)).toContain('31 May 2030');
    const svg = await shop.get(`/models/${form.id}/qr`);
    expect(await svg.text()).toMatch(/^<svg .*<path d="M.*<\/svg>$/);
    const png = Buffer.from(await (await shop.get(`/models/${form.id}/qr?format=png`)).arrayBuffer());
    expect([png.toString('latin1', 1, 4), png.readUInt32BE(16)]).toEqual(['PNG', 1024]);
  });

  it('is missing for a form without an address, and for a stranger', async () => {
    const content = { type: 'layout', elements };
    const { id } = await makeLiveModel(admin, 'layout', { en: content });
    for (const what of ['qr', 'poster']) {
      expect((await shop.get(`/models/${id}/${what}`)).status).toBe(404);
      expect((await instance.fetch(`/models/${id}/${what}`)).status).toBe(401);
    }
  });
});

describe('the address of a form', () => {
  it('is the same in all languages, and no part of a form that a context describes', async () => {
    const { id } = (await (await admin.send('POST', '/models', { type: 'layout', name: 'Two' })).json()) as {
      id: string;
    };
    const refused = await admin.send('POST', `/models/${id}/versions`, {
      defaultLanguage: 'en',
      data: {
        en: { type: 'layout', elements, public: { identify: 'EMAIL', until: '2030-02-30' } },
        fr: { type: 'layout', elements, public: { identify: 'NOBODY' } },
      },
    });
    expect((await problemOf(refused)).errors).toMatchObject([
      { pointer: '/data/en/public/until' },
      { pointer: '/data/fr/public/identify' },
    ]);
    const inline = await shop.send('POST', '/consents', {
      subject: 'zoe',
      layoutData: { elements, public: { identify: 'EMAIL' } },
    });
    expect(inline.status).toBe(201);
  });
});

describe('what strangers have not finished', () => {
  it('is deleted after an hour, with the people whom only they have named', async () => {
    const [email, nameless] = [
      await publish({ identify: 'EMAIL' }),
      await publish({ identify: 'ANONYMOUS' }),
    ];
    const known = 'dora@example.org';
    await shop.send('POST', '/subjects', { name: known });
    const begun = [
      ledTo(await begin(email, { emailAddress: 'eve@example.org' })),
      ledTo(await begin(email, { emailAddress: known })),
      ledTo(await begin(nameless)),
    ];
    const finished = ledTo(await begin(nameless));
    await finished.person.submitForm(complete);
    const ids = begun.map(({ id }) => id);
    const left = async (table: string, column = 'transaction') =>
      (await rowsOf(instance, `SELECT FROM transactions.${table} WHERE ${column} = ANY($1)`, [ids])).length;
    await letTimePass(instance, '61 minutes');
    await vi.waitFor(async () => expect(await left('transactions', 'id')).toBe(0), { timeout: 20_000 });
    expect(await left('transaction_history')).toBe(0);
    const [late] = begun;
    const tooLate = await late?.person.get('/submit', 'text/html');
    expect([tooLate?.status, await tooLate?.text()]).toEqual([
      404,
      expect.stringContaining('was not finished within the hour'),
    ]);
    const names = await rowsOf<{ name: string }>(
      instance,
      "SELECT name FROM transactions.subjects WHERE name IN ('eve@example.org', 'dora@example.org')",
    );
    expect(names).toEqual([{ name: known }]);
    expect((await representation(finished.id)).state).toBe('COMMITTED');
    await letTimePass(instance, '0 hours');
  });

  it('counts for a day if a code was sent, so that deleting it sends no further ones', async () => {
    const path = await publish({ identify: 'EMAIL' });
    const { id, person } = ledTo(await begin(path, { emailAddress: 'fay@example.org' }));
    await person.submit();
    const left = async () =>
      (await rowsOf(instance, 'SELECT FROM transactions.transactions WHERE id = $1', [id])).length;
    await letTimePass(instance, '3 hours');
    const stateOf = async () => (await representation(id)).state;
    await vi.waitFor(async () => expect(await stateOf()).toBe('TIMEOUT'), { timeout: 20_000 });
    expect(await left()).toBe(1);
    await letTimePass(instance, '25 hours');
    await vi.waitFor(async () => expect(await left()).toBe(0), { timeout: 20_000 });
    await letTimePass(instance, '0 hours');
  });
});
