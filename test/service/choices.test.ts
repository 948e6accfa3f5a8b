import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createConsolePerson, submitSignIn } from '../support/console/console-person.ts';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import type { ShownChoices } from '../support/instances/choices-visitor.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass, rowsOf } from '../support/instances/live-database.ts';
import { complete, letter, often, problemOf, study, subjectOf } from '../support/instances/live-subject.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';

const instance = useInstance({ RATE_LIMITS: 'user=10000,transaction=10000' });
const shop: Caller = useSetup(() => createKey(instance));
const admin: Caller = useSetup(() => signIn(instance, 'admin'));
const user: Caller = useSetup(() => signIn(instance, 'user'));

interface Opened {
  url: string;
  expires: string;
}

async function open(subject: string, more: object = {}): Promise<Opened> {
  const response = await shop.send('POST', '/choices', { subject, ...more });
  expect(response.status).toBe(201);
  return (await response.json()) as Opened;
}

/** Requests with the session that is in a URL. */
function inFrame({ url }: Opened) {
  const { searchParams } = new URL(url);
  const t = searchParams.get('t') ?? '';
  const at = (path: string) => `/choices${path}?t=${t}`;
  return {
    json: async (path = '') =>
      (await (
        await instance.fetch(at(path), { headers: { Accept: 'application/json' } })
      ).json()) as ShownChoices,
    page: async () => {
      const response = await instance.fetch(at(''), { headers: { Accept: 'text/html' } });
      return { response, text: await response.text() };
    },
    post: (path: string, fields: [string, string][] = []) =>
      instance.fetch(at(path), {
        method: 'POST',
        headers: { Accept: 'text/html' },
        body: new URLSearchParams(fields),
        redirect: 'manual',
      }),
    send: (path: string, body: object) =>
      instance.fetch(at(path), {
        method: 'POST',
        headers: { Accept: 'application/json', 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      }),
    get: (path: string, query = '') => instance.fetch(`${at(path)}${query}`),
  };
}

const answers = { ...complete, [letter]: ['accepted'], [study]: ['accepted'] };

async function answered(subject: string, given: Record<string, string[]> = answers) {
  const made = await createTransaction(shop, { subject, attributes: { visit: randomUUID() } });
  expect((await subjectOf(instance, made).submit(given)).status).toBe(200);
  return made;
}

const choiceOf = ({ organisations }: ShownChoices, key: string) =>
  organisations[0]?.choices?.find(({ identifier }) => identifier.includes(`/${key}/`));

describe('what a person has said', () => {
  it('is one list with the texts that were seen, what counts now, and the earlier answers', async () => {
    await answered('ann', { ...answers, [letter]: ['refused'] });
    await answered('ann');
    const read = await inFrame(await open('ann')).json();
    expect(read.organisations).toHaveLength(1);
    expect(read.organisations[0]).toMatchObject({ location: instance.url, name: expect.any(String) });
    expect(choiceOf(read, 'processing.001')).toMatchObject({
      identifier: letter,
      title: expect.stringMatching(/\w/),
      language: 'en',
      answers: ['accepted'],
      status: 'VALID',
      reason: 'GIVEN',
      withdrawable: true,
      changeable: true,
      receipt: expect.stringContaining('/receipts/'),
      history: [{ answers: ['refused'], given: expect.any(String) }],
    });
    const receipt = choiceOf(read, 'processing.001')?.receipt ?? '';
    expect((await instance.fetch(receipt.replace(instance.url, ''))).status).toBe(200);
    expect(choiceOf(read, 'preference.001')).toMatchObject({ answers: complete[often], withdrawable: false });
  });

  it('is the same on the page, which works without a script', async () => {
    await answered('bea');
    const { response, text } = await inFrame(await open('bea')).page();
    expect(response.status).toBe(200);
    expect(text).toContain('My choices');
    expect(text).toContain('Accepted');
    expect(text).not.toContain('<script');
    expect(text.match(/<form method="post"/g)?.length).toBeGreaterThan(3);
  });

  it('is read by the organisation by name, and by a user about the own account alone', async () => {
    await answered('cid');
    const ofCid = (await (await shop.get('/choices?subject=cid')).json()) as ShownChoices;
    expect(ofCid.organisations[0]?.choices).toHaveLength(3);
    expect((await problemOf(await shop.get('/choices'))).said).toBe('422 invalid');
    const ofNobody = (await (await shop.get('/choices?subject=nobody')).json()) as ShownChoices;
    expect(ofNobody.organisations[0]?.choices).toEqual([]);
    expect((await problemOf(await user.get('/choices?subject=cid'))).said).toBe('403 forbidden');
    expect(((await (await user.get('/choices')).json()) as ShownChoices).organisations[0]?.choices).toEqual(
      [],
    );
    expect((await problemOf(await instance.fetch('/choices'))).said).toBe('401 unauthorized');
  });
});

describe('what a person can do in the choices', () => {
  it('a consent is withdrawn in one click, and the page says that it has ended', async () => {
    await answered('dan');
    const dan = inFrame(await open('dan'));
    const sent = await dan.post('/withdraw', [['elements', letter]]);
    expect(sent.status).toBe(303);
    expect(sent.headers.get('location')).toMatch(/\/choices\?t=[^&]+&done=withdrawn$/);
    const read = await dan.json();
    expect(choiceOf(read, 'processing.001')).toMatchObject({ reason: 'WITHDRAWN', withdrawable: false });
    expect(choiceOf(read, 'processing.002')).toMatchObject({ reason: 'GIVEN' });
    // A second click finds nothing left.
    expect((await dan.post('/withdraw', [['elements', letter]])).status).toBe(303);
    const records = await rowsOf<{ origin: string; author: string }>(
      instance,
      "SELECT origin, author FROM transactions.records WHERE subject = 'dan' AND value = '{refused}'",
    );
    expect(records).toEqual([{ origin: 'USER', author: 'dan' }]);
  });

  it('a question is answered again with the earlier answer, or with nothing selected', async () => {
    await answered('eve');
    const eve = inFrame(await open('eve'));
    const ask = async (body: object) => {
      const made = await eve.send('/change', body);
      expect(made.status).toBe(201);
      return subjectOf(instance, (await made.json()) as { id: string; token: string });
    };
    const changed = await (await ask({ elements: ['processing.001'] })).form();
    expect(changed.elements.map(({ identifier }) => identifier)).toEqual([letter]);
    expect(changed.elements[0]?.previous).toMatchObject({ answers: ['accepted'] });
    const renewed = await ask({ elements: [letter], renew: true });
    expect((await renewed.form()).elements[0]?.previous).toBeNull();
    expect((await renewed.submit({ [letter]: ['refused'] })).status).toBe(200);
    expect(choiceOf(await eve.json(), 'processing.001')).toMatchObject({ reason: 'WITHDRAWN' });
    const led = await eve.post('/change', [['elements', letter]]);
    expect(led.headers.get('location')).toMatch(/\/consents\/\w+\/submit\?t=/);
    expect((await problemOf(await eve.send('/change', { elements: ['processing.999'] }))).said).toBe(
      '422 invalid',
    );
  });

  it('the person asks for the erasure, and the page says until when it is decided', async () => {
    await answered('fay');
    const fay = inFrame(await open('fay'));
    const asked = await fay.post('/erasure', [['reason', 'I have moved away.']]);
    expect(asked.headers.get('location')).toContain('done=erasure');
    expect((await fay.page()).text).toContain('It is decided by');
    const erasures = (await (await admin.get('/erasures?subject=fay')).json()) as {
      state: string;
      reason: string;
    }[];
    expect(erasures).toMatchObject([{ state: 'REQUESTED', reason: 'I have moved away.' }]);
  });

  it('everything is exported in the first quarter of an hour of a session', async () => {
    await answered('gus');
    const session = await open('gus');
    const gus = inFrame(session);
    const exported = (await (await gus.get('/export')).json()) as { subject: { name: string } };
    expect(exported.subject.name).toBe('gus');
    expect((await gus.get('/export', '&format=html')).headers.get('content-type')).toContain('text/html');
    await letTimePass(instance, '16 minutes');
    expect((await gus.get('/export')).status).toBe(401);
    expect((await gus.page()).text).toContain('Ask for a new link');
    await letTimePass(instance, '0 minutes');
  });
});

describe('a session', () => {
  const begin = async (subject: string): Promise<Opened> => {
    await answered(subject);
    return open(subject);
  };

  it('ends half an hour after the last page, and each page renews it, for four hours at most', async () => {
    const session = await begin('hal');
    let url = session.url;
    const readAt = async (minutes: number) => {
      await letTimePass(instance, `${minutes} minutes`);
      const { text } = await inFrame({ ...session, url }).page();
      const next = /action="([^"]*\/choices\/end\?t=[^"]*)"/.exec(text)?.[1];
      if (next) url = next;
      return next !== undefined;
    };
    for (let minutes = 0; minutes < 240; minutes += 29) expect(await readAt(minutes)).toBe(true);
    expect(await readAt(241)).toBe(false);
    url = session.url;
    expect(await readAt(29)).toBe(true);
    expect(await readAt(60)).toBe(false);
    await letTimePass(instance, '0 minutes');
  });

  it('is ended everywhere by its person, and shows nothing afterwards', async () => {
    const [one, other] = [inFrame(await begin('ian')), inFrame(await open('ian'))];
    expect((await one.post('/end')).status).toBe(303);
    expect((await other.page()).text).toContain('Enter your e-mail address');
    expect((await other.get('', '')).status).toBe(401);
  });

  it('gives no access to anything else, and a token of a transaction gives none to choices', async () => {
    const session = await begin('joe');
    const t = new URL(session.url).searchParams.get('t');
    const { id, token } = await answered('joe');
    expect((await instance.fetch(`/consents/${id}?t=${t}`)).status).toBe(403);
    expect((await instance.fetch(`/subjects/joe?t=${t}`)).status).toBe(403);
    expect((await instance.fetch(`/choices?t=${token}`)).status).toBe(403);
    expect((await instance.fetch(`/choices?t=${t}x`)).status).toBe(401);
  });

  it('is opened for a page of the organisation, which may frame it and gets its person back', async () => {
    await answered('kim');
    const { url } = await open('kim', {
      language: 'fr',
      returnUrl: 'https://shop.example/account',
      iframeOrigin: 'https://shop.example',
    });
    const { response, text } = await inFrame({ url, expires: '' }).page();
    expect(response.headers.get('content-security-policy')).toContain(
      "frame-ancestors 'self' https://shop.example",
    );
    expect(text).toContain('Mes choix');
    expect(text).toContain('href="https://shop.example/account"');
    expect((await problemOf(await shop.send('POST', '/choices', { subject: 'who is that' }))).said).toBe(
      '404 not-found',
    );
    expect((await problemOf(await user.send('POST', '/choices', { subject: 'kim' }))).said).toBe(
      '403 forbidden',
    );
    expect((await user.send('POST', '/choices', {})).status).toBe(201);
  });
});

describe('an account that only answers', () => {
  it('is led from the console to its own choices', async () => {
    await answered('user');
    const person = createConsolePerson(instance.url);
    const page = await submitSignIn(person, await person.open('/console'), {
      username: 'user',
      password: 'demo',
    });
    expect(page.path).toMatch(/^\/choices\?t=/);
    expect(page.html).toContain('My choices');
  });
});
