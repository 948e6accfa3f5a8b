import { afterAll, describe, expect, it } from 'vitest';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import { choicesVisitor } from '../support/instances/choices-visitor.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass, rowsOf, runInDatabase } from '../support/instances/live-database.ts';
import { letter } from '../support/instances/live-subject.ts';
import { createTransaction, recordAnswers } from '../support/instances/live-transactions.ts';
import { leadsTo, linkIn, startMailServer } from '../support/network/mail-server.ts';
import { languagesOn, parsePage } from '../support/pages/parse-page.ts';
import { until } from '../support/run/until.ts';

const server = await startMailServer();
const instance = useInstance({
  MAIL_URL: server.url,
  MAIL_FROM: 'consent@riverside.example',
  RATE_LIMITS: 'user=10000,transaction=10000,choices=1000,choices-of-all=1000',
});
const shop: Caller = useSetup(() => createKey(instance));
const admin: Caller = useSetup(() => signIn(instance, 'admin'));
const user: Caller = useSetup(() => signIn(instance, 'user'));
afterAll(() => server.close());

const agreed = { [letter]: ['accepted'] };

/** A person whose address the organisation has entered. */
async function know(subject: string, emailAddress = `${subject}@example.org`): Promise<string> {
  await recordAnswers(shop, subject, agreed, { subjectInfos: { emailAddress } });
  return emailAddress;
}

const ask = (address: string, headers: Record<string, string> = {}) =>
  instance.fetch('/choices/link', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json', ...headers },
    body: JSON.stringify({ address }),
  });

/** Waits until every request has been looked up. */
const lookedUp = () =>
  until(async () => expect(await rowsOf(instance, 'SELECT FROM transactions.choices_requests')).toEqual([]));

/** Asks for a link. @returns where it leads: the page with the button. */
async function linkFor(address: string): Promise<string> {
  const before = server.to(address).length;
  expect((await ask(address)).status).toBe(202);
  await until(() => expect(server.to(address)).toHaveLength(before + 1));
  return leadsTo(linkIn(server.to(address).at(-1)?.mail ?? {}));
}

describe('a link to the own choices', () => {
  it('comes by mail, and its button begins a session in a cookie that no script reads', async () => {
    const page = await linkFor(await know('ann'));
    const ann = choicesVisitor(instance);
    expect((await (await ann.get(page)).text()).match(/<form method="post"/g)).toHaveLength(1);
    const opened = await ann.post(page);
    expect(opened.status).toBe(303);
    expect(opened.headers.get('location')).toBe(`${instance.url}/choices`);
    expect(opened.headers.get('set-cookie')).toMatch(
      /^accord_choices_\d+=\S+; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const [own] = await ann.read();
    expect(own?.choices?.map(({ identifier }) => identifier)).toEqual([letter]);
    expect((await ann.post('/choices/withdraw', [['elements', letter]])).status).toBe(303);
    expect((await ann.read())[0]?.choices?.[0]).toMatchObject({ reason: 'WITHDRAWN' });
  });

  it('is written in the language of the page on which it was asked for', async () => {
    const address = await know('bea');
    await ask(address, { 'Accept-Language': 'fr' });
    await until(() => expect(server.to(address)).toHaveLength(1));
    expect(server.to(address)[0]?.mail.subject).toContain('Vos choix chez');
    await ask(address, { 'Accept-Language': 'ar' });
    await until(() => expect(server.to(address)).toHaveLength(2));
    expect(server.to(address)[1]?.mail.subject).toContain('اختياراتك');
  });

  it('leads to pages that are offered in every language of the product, and keep the chosen one', async () => {
    const { languages } = (await (await instance.fetch('/system/config')).json()) as { languages: string[] };
    const visitor = choicesVisitor(instance);
    const inFrench = async (path: string) => {
      const page = parsePage(await (await visitor.get(path)).text());
      const links = languagesOn(page);
      expect(links.map(({ attribs }) => attribs.hreflang).toSorted()).toEqual(
        languages.filter((language) => language !== 'en').toSorted(),
      );
      const french = links.find(({ attribs }) => attribs.hreflang === 'fr')?.attribs.href ?? '';
      const shown = parsePage(await (await visitor.get(french)).text());
      expect(shown.tagged('html')[0]?.attribs.lang).toBe('fr');
      return shown;
    };
    await inFrench('/choices');
    const asked = await inFrench(await linkFor(await know('dov')));
    const opened = await visitor.post(asked.tagged('form')[0]?.attribs.action ?? '');
    expect(opened.headers.get('location')).toBe(`${instance.url}/choices?language=fr`);
    const choices = await inFrench('/choices');
    for (const { attribs } of choices.tagged('form')) expect(attribs.action).toContain('language=fr');
  });

  it('is offered where a link to a form or a receipt does not work, in words without numbers', async () => {
    const { id, token } = await createTransaction(shop);
    for (const path of [
      `/consents/${id}?t=${token}x&language=fr`,
      `/receipts/${id}?t=${token}x&language=fr`,
      '/consents/1111111111111111111111?language=fr',
      '/l/AAAAAAAAAA?language=fr',
    ]) {
      const response = await instance.fetch(path, { headers: { Accept: 'text/html' } });
      expect([path, [401, 404].includes(response.status)]).toEqual([path, true]);
      const page = parsePage(await response.text());
      const [link] = page
        .tagged('a')
        .filter((each) => page.text(each) === 'Recevoir par courriel un lien vers mes choix');
      expect(link?.attribs.href, path).toBe(`${instance.url}/choices?language=fr`);
      expect(page.text(), path).not.toMatch(/Erreur \d/);
    }
  });

  it('opens nothing by itself, because mail scanners follow links', async () => {
    const page = await linkFor(await know('cid'));
    const scanner = choicesVisitor(instance);
    await scanner.get(page);
    await scanner.get(page);
    expect(scanner.cookie).toBe('');
    expect((await choicesVisitor(instance).post(page)).status).toBe(303);
  });

  it('opens once: a hundred clicks at the same time begin one session, a later one none', async () => {
    const page = await linkFor(await know('dan'));
    const clicks = Array.from({ length: 100 }, async () => {
      const visitor = choicesVisitor(instance);
      const { status } = await visitor.post(page);
      return `${status} ${visitor.cookie}`;
    });
    const sessions = new Set(await Promise.all(clicks));
    expect(sessions.size).toBe(1);
    expect([...sessions][0]).toMatch(/^303 accord_choices/);
    await letTimePass(instance, '2 minutes');
    const late = choicesVisitor(instance);
    expect((await late.post(page)).status).toBe(410);
    expect(late.cookie).toBe('');
    expect((await late.get(page)).status).toBe(410);
    await letTimePass(instance, '0 minutes');
    const lines = await rowsOf(
      instance,
      `SELECT FROM transactions.audit_log AS l JOIN transactions.subjects AS s ON l.target = 'subject/' || s.id
        WHERE s.name = 'dan' AND l.action = 'choices.opened'`,
    );
    expect(lines).toHaveLength(1);
  });

  it('ends after half an hour, and when its person ends all sessions', async () => {
    const address = await know('eve');
    const [old, other] = [await linkFor(address), await linkFor(address)];
    await letTimePass(instance, '31 minutes');
    expect((await choicesVisitor(instance).post(old)).status).toBe(410);
    await letTimePass(instance, '0 minutes');
    const eve = choicesVisitor(instance);
    await eve.post(old);
    expect((await eve.post('/choices/end')).status).toBe(303);
    expect((await choicesVisitor(instance).post(other)).status).toBe(410);
    expect(await (await eve.get('/choices')).text()).toContain('Enter your e-mail address');
  });

  it('is one for each person who has the address, under a masked name', async () => {
    const shared = 'family@example.org';
    await know('francis fisher', shared);
    await know('fiona fisher', shared);
    await ask(shared);
    await until(() => expect(server.to(shared)).toHaveLength(1));
    const text = server.to(shared)[0]?.mail.text ?? '';
    expect(text.match(/\/l\/[0-9A-Z]{10}/g)).toHaveLength(2);
    expect(text).toContain('f…er');
    expect(text).not.toContain('fisher');
  });

  it('is refused to a page of another site', async () => {
    const gus = choicesVisitor(instance);
    await gus.post(await linkFor(await know('gus')));
    const forged = await gus.post('/choices/withdraw', [['elements', letter]], {
      'Sec-Fetch-Site': 'cross-site',
    });
    expect(forged.status).toBe(403);
    expect((await gus.read())[0]?.choices?.[0]).toMatchObject({ reason: 'GIVEN' });
  });
});

describe('whoever asks for a link', () => {
  it('learns nothing about the address: the response and the stored work are the same', async () => {
    const known = await know('hal');
    const unknown = 'who@example.org';
    const countsOf = async (address: string) => {
      const response = await ask(address);
      const { date: _date, 'x-request-id': _id, ...headers } = Object.fromEntries(response.headers);
      return { status: response.status, headers, body: await response.text() };
    };
    const pageOf = async (address: string) => {
      const response = await choicesVisitor(instance).post('/choices/link', [['address', address]]);
      return { status: response.status, body: await response.text() };
    };
    expect(await countsOf(known)).toEqual(await countsOf(unknown));
    expect(await pageOf(known)).toEqual(await pageOf(unknown));
    await lookedUp();
  });

  it('leaves the address in no table and no log, known or not', async () => {
    const canary = 'canary4711@asked.example';
    await ask(canary);
    await ask(canary.toUpperCase());
    await know('jo', 'canary4712@known.example');
    await linkFor('canary4712@known.example');
    await lookedUp();
    const tables = [
      'choices_requests',
      'choices_links',
      'messages',
      'contacts',
      'audit_log',
      'outbox',
      'outbox_sent',
    ];
    const rows = await Promise.all(
      tables.map((table) =>
        rowsOf<{ row: string }>(instance, `SELECT t::text AS row FROM transactions.${table} AS t`),
      ),
    );
    const stored = rows
      .flat()
      .map(({ row }) => row)
      .join('\n');
    expect(stored).toContain('choices');
    for (const text of [stored, instance.logs()])
      expect(text).not.toMatch(/canary471|asked\.example|known\.example/i);
  });

  it('is told only of a text that is no address', async () => {
    expect((await ask('who@')).status).toBe(422);
    const page = await choicesVisitor(instance).post('/choices/link', [['address', 'who@']]);
    expect(page.status).toBe(422);
    expect(await page.text()).toContain('Enter one e-mail address');
  });

  it('gets three mails an hour and ten a day for an address, and the same response beyond', async () => {
    const address = await know('ida');
    for (let hour = 0; hour < 5; hour += 1) {
      await letTimePass(instance, `${hour * 61} minutes`);
      for (let count = 0; count < 4; count += 1) expect((await ask(address)).status).toBe(202);
      await lookedUp();
    }
    const stored = await rowsOf(
      instance,
      `SELECT FROM transactions.messages WHERE kind = 'choices' AND created_at > transactions.accord_now() - interval '1 day'
        GROUP BY address, id HAVING address = (SELECT address FROM transactions.messages WHERE kind = 'choices'
        ORDER BY created_at DESC LIMIT 1)`,
    );
    expect(stored).toHaveLength(10);
    await letTimePass(instance, '0 minutes');
    await runInDatabase(
      instance,
      "DELETE FROM transactions.messages WHERE kind = 'choices' AND state = 'PENDING'",
    );
  });
});

describe('an address', () => {
  it('counts if the organisation has entered it, not if a user has', async () => {
    await user.send('POST', '/subjects', { name: 'user', emailAddress: 'mallory@example.org' });
    await admin.send('POST', '/subjects', { name: 'jim', emailAddress: 'jim@example.org' });
    const proven = await rowsOf<{ subject: string; proven: boolean }>(
      instance,
      "SELECT subject, proven FROM transactions.contacts WHERE subject IN ('user', 'jim') ORDER BY subject",
    );
    expect(proven).toEqual([
      { subject: 'jim', proven: true },
      { subject: 'user', proven: false },
    ]);
    await ask('mallory@example.org');
    await lookedUp();
    await linkFor('jim@example.org');
    expect(server.to('mallory@example.org')).toEqual([]);
  });

  it('of an erased person counts no more, and no link to the choices is left', async () => {
    const address = await know('kim');
    const page = await linkFor(address);
    expect((await admin.send('POST', '/subjects/kim/erasure')).status).toBe(202);
    await until(async () =>
      expect(await rowsOf(instance, "SELECT FROM transactions.subjects WHERE name = 'kim'")).toEqual([]),
    );
    expect((await choicesVisitor(instance).post(page)).status).toBe(410);
    await ask(address);
    await lookedUp();
    expect(server.to(address)).toHaveLength(1);
  });
});
