import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { openPages } from '../support/console/open-pages.ts';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import {
  draftCampaign,
  forecastOf,
  makeAskedElement,
  membersOf,
  readCampaign,
  setCampaign,
  untilCounts,
} from '../support/instances/live-campaigns.ts';
import { letTimePass, rowsOf } from '../support/instances/live-database.ts';
import { eventsOf, keepEvents } from '../support/instances/live-events.ts';
import { beginAt, ledTo, publishForm } from '../support/instances/live-public-forms.ts';
import { problemOf } from '../support/instances/live-subject.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';
import { codeIn, type ReceivedMail, startMailServer } from '../support/network/mail-server.ts';
import { languagesOn, parsePage } from '../support/pages/parse-page.ts';
import { until } from '../support/run/until.ts';

const server = await startMailServer();
afterAll(() => server.close());
const instance = useInstance({ MAIL_URL: server.url });
const admin = useSetup(() => signIn(instance, 'admin'));
const operator = useSetup(() => signIn(instance, 'operator'));
beforeAll(() => keepEvents(instance));

type Valid = components['schemas']['ValidAnswers'];

/** Has a campaign write to the people of an element, and waits until all have got the mail. */
async function writeTo(element: Awaited<ReturnType<typeof makeAskedElement>>, more: object = {}, sent = 1) {
  const id = await draftCampaign(operator, element, more);
  expect((await setCampaign(operator, id, 'RUNNING')).status).toBe(200);
  await untilCounts(operator, id, { SENT: sent });
  return id;
}

/** The addresses in a mail that begin like this. */
const linkTo = (raw: string | undefined, path: string) =>
  new RegExp(`http://localhost:\\d+(${path}[^\\s>)\\]]*)`).exec(raw ?? '')?.[1] ?? '';
const headerOf = ({ headers }: ReceivedMail['mail'], name: string) =>
  headers.find(({ key }) => key === name)?.value;

describe('a campaign after a MAJOR', () => {
  it('asks exactly those whom the forecast of the MAJOR counted, but for who refused, once, with a mail that leads to the form', async () => {
    const element = await makeAskedElement(admin);
    const [ann, ben] = [await element.answered(), await element.answered()];
    const refused = await element.answered('refused');
    const counted = (await (await operator.get(`/stats/valid?keys=${element.key}`)).json()) as Valid;
    await element.change();
    const id = await draftCampaign(operator, element);
    expect(await forecastOf(operator, id)).toMatchObject({
      people: 3,
      asked: 2,
      reasons: [{ reason: 'CHANGED', people: 3, answers: counted.values[0]?.subjects }],
      excluded: [{ why: 'REFUSED', people: 1 }],
      atLeast: false,
    });
    expect((await membersOf(operator, id)).map(({ subject, to, state }) => ({ subject, to, state }))).toEqual(
      expect.arrayContaining([
        { subject: ann, to: `${ann[0]}…@example.org`, state: 'PICKED' },
        { subject: ben, to: `${ben[0]}…@example.org`, state: 'PICKED' },
      ]),
    );
    expect((await setCampaign(operator, id, 'RUNNING')).status).toBe(200);
    await untilCounts(operator, id, { SENT: 2, PICKED: 0 });
    expect([ann, ben, refused].map((name) => server.to(name).length)).toEqual([1, 1, 0]);

    const { mail } = await server.waitFor(ann);
    expect(mail.text).toMatch(/so\s+that\s+answer\s+is\s+no\s+longer\s+valid/);
    expect(headerOf(mail, 'list-unsubscribe')).toMatch(
      /^<http:\/\/localhost:\d+\/choices\/unsubscribe\?t=[\w.-]+>$/,
    );
    expect(headerOf(mail, 'list-unsubscribe-post')).toBe('List-Unsubscribe=One-Click');
    const form = await instance.fetch(linkTo(mail.text, '/l/'), { headers: { Accept: 'text/html' } });
    expect(form.headers.get('location')).toMatch(/\/consents\/\w{22}\?t=/);
    const member = (await membersOf(operator, id)).find(({ subject }) => subject === ann);
    const read = await (await operator.get(`/consents/${member?.transaction}/context`)).json();
    expect(read).toMatchObject({ ask: 'CHANGED', origin: 'EMAIL', subject: ann });
    expect(await (await operator.get(`/consents/${member?.transaction}/messages`)).json()).toMatchObject([
      { kind: 'campaign', state: 'SENT', to: `${ann[0]}…@example.org` },
    ]);
  });

  it('stops for who answers anyhow, and is DONE when all have answered', async () => {
    const element = await makeAskedElement(admin);
    const ann = await element.answered();
    await element.change();
    const id = await writeTo(element, { reminders: 3 });
    await element.answered('refused', { name: ann, serial: '2.0' });
    await untilCounts(operator, id, { SENT: 0, ANSWERED: 1 });
    await until(async () => expect(await readCampaign(operator, id)).toMatchObject({ state: 'DONE' }));
    const told = (await eventsOf(instance, { id })).map(({ event: { type, data } }) => ({ type, data }));
    expect(told).toEqual([
      { type: 'io.accord.campaign.started.v1', data: { campaign: id, state: 'RUNNING' } },
      { type: 'io.accord.campaign.finished.v1', data: { campaign: id, state: 'DONE' } },
    ]);
  });

  it('sends a reminder after seven days, and no more of them than it was told', async () => {
    const element = await makeAskedElement(admin);
    const ann = await element.answered();
    await element.change();
    onTestFinished(() => letTimePass(instance, '0'));
    const id = await writeTo(element, { reminders: 1 });
    await letTimePass(instance, '8 days');
    const { mail } = await server.waitFor(ann, 2);
    expect(mail.subject).toMatch(/^Reminder:/);
    await untilCounts(operator, id, { SENT: 1 });
    await letTimePass(instance, '30 days');
    await letTimePass(instance, '91 days');
    await untilCounts(operator, id, { CLOSED: 1 });
    expect(server.to(ann)).toHaveLength(2);
    await until(async () => expect(await readCampaign(operator, id)).toMatchObject({ state: 'DONE' }));
  });
});

describe('the forecast', () => {
  it('counts everybody whom the activation has counted, however they answered: asked, or left out with a reason', async () => {
    const element = await makeAskedElement(admin);
    const [byMail, begun] = [`${randomUUID()}@example.org`, `${randomUUID()}@example.org`];
    const answers = { [`element/processing/${element.key}/1.0`]: ['accepted'] };
    const forms = {
      email: await publishForm(admin, { identify: 'EMAIL' }, { elements: [element.key] }),
      anonymous: await publishForm(admin, { identify: 'ANONYMOUS' }, { elements: [element.key] }),
    };
    const answerAt = async (path: string, emailAddress: string) => {
      const led = ledTo(instance, await beginAt(instance, path, emailAddress ? { emailAddress } : {}));
      expect((await led.person.submit(answers)).status).toBe(200);
      return led;
    };
    const { id, token } = await answerAt(forms.email, byMail);
    const confirmed = await instance.fetch(`/consents/${id}/confirm?t=${token}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ code: codeIn(await server.waitFor(byMail)) }),
    });
    expect(await confirmed.json()).toMatchObject({ state: 'COMMITTED' });
    await answerAt(forms.anonymous, '');
    // Nobody has proven this address: it is no person yet.
    await answerAt(forms.email, begun);
    const byKey = await createKey(instance);
    await recordAnswers(byKey, `a program's ${randomUUID()}`, answers);
    const invited = await element.answered();
    await element.answered('refused');

    const counted = (await (await operator.get(`/stats/valid?keys=${element.key}`)).json()) as Valid;
    expect(counted.values).toMatchObject([{ subjects: 5, accepted: 4, refused: 1 }]);
    await element.change();
    const forecast = await forecastOf(operator, await draftCampaign(operator, element));
    expect(forecast).toMatchObject({ people: 5, asked: 2 });
    expect(forecast.excluded).toHaveLength(2);
    expect(forecast.excluded).toEqual(
      expect.arrayContaining([
        { why: 'NO_ADDRESS', people: 2 },
        { why: 'REFUSED', people: 1 },
      ]),
    );
    const campaign = await writeTo(element, {}, 2);
    expect((await membersOf(operator, campaign)).map(({ subject }) => subject).sort()).toEqual(
      [byMail, invited].sort(),
    );
    const refused = await operator.send('POST', '/subjects', { name: byMail });
    expect(await problemOf(refused)).toMatchObject({ said: '409 exists' });
  });
});

describe('a campaign never writes to people', () => {
  it('who refused, are held, have no address, were written to lately, or have unsubscribed', async () => {
    const element = await makeAskedElement(admin);
    const recent = await element.answered();
    await element.change();
    await writeTo(element);
    const other = await makeAskedElement(admin);
    await other.answered('accepted', { name: recent });
    await other.answered('refused');
    await other.answered('accepted', { name: `nobody ${randomUUID()}`, address: null });
    const held = await other.answered();
    await admin.send('PUT', `/subjects/${encodeURIComponent(held)}/hold`, { reason: 'A claim' });
    await other.change();
    const id = await draftCampaign(operator, other);
    const { people, asked, excluded } = await forecastOf(operator, id);
    expect({ people, asked }).toEqual({ people: 4, asked: 0 });
    expect(excluded).toEqual(
      expect.arrayContaining([
        { why: 'REFUSED', people: 1 },
        { why: 'HELD', people: 1 },
        { why: 'NO_ADDRESS', people: 1 },
        { why: 'RECENT', people: 1 },
      ]),
    );
    await setCampaign(operator, id, 'RUNNING');
    await until(async () => expect(await readCampaign(operator, id)).toMatchObject({ state: 'DONE' }));
    expect(await membersOf(operator, id)).toEqual([]);
  });

  it('who use the link of the mail to end such messages: opening it changes nothing, one click does', async () => {
    const element = await makeAskedElement(admin);
    const ann = await element.answered();
    await element.change();
    const id = await writeTo(element);
    const { mail } = await server.waitFor(ann);
    const link = linkTo(headerOf(mail, 'list-unsubscribe'), '/choices/unsubscribe');
    const page = await instance.fetch(link, { headers: { Accept: 'text/html' } });
    const asked = await page.text();
    expect(asked).toContain('End these messages');
    const french = languagesOn(parsePage(asked)).find(({ attribs }) => attribs.hreflang === 'fr');
    const inFrench = await fetch(french?.attribs.href ?? '', { headers: { Accept: 'text/html' } });
    expect(await inFrench.text()).toContain('Ne plus recevoir');
    expect(await (await instance.fetch(link)).json()).toEqual({ unsubscribed: false });
    await untilCounts(operator, id, { SENT: 1 });
    const clicked = await instance.fetch(link, {
      method: 'POST',
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
      body: 'List-Unsubscribe=One-Click',
    });
    expect(await clicked.json()).toEqual({ unsubscribed: true });
    await untilCounts(operator, id, { UNSUBSCRIBED: 1, SENT: 0 });
    const records = await (await operator.get(`/records?subject=${encodeURIComponent(ann)}`)).json();
    expect(records).toMatchObject({ [element.key]: [{ value: 'accepted' }] });
    const again = await draftCampaign(operator, element);
    expect(await forecastOf(operator, again)).toMatchObject({
      people: 1,
      asked: 0,
      excluded: [{ why: 'UNSUBSCRIBED', people: 1 }],
    });
    expect((await instance.fetch(`${link}x`)).status).toBe(404);

    const exported = () =>
      operator.get(`/subjects/${encodeURIComponent(ann)}/export`).then((response) => response.json());
    expect(await exported()).toMatchObject({ unsubscribed: expect.stringMatching(/Z$/) });
    const ended = await (await instance.fetch(link, { headers: { Accept: 'text/html' } })).text();
    const undo = new URL(/action="(subscribe[^"]*)"/.exec(ended)?.[1] ?? '', new URL(link, instance.url));
    const undone = await instance.fetch(undo.pathname + undo.search, { method: 'POST' });
    expect(await undone.json()).toEqual({ unsubscribed: false });
    expect(await exported()).not.toHaveProperty('unsubscribed');
    expect(await forecastOf(operator, again)).toMatchObject({ people: 1, asked: 0 });
    await letTimePass(instance, '8 days');
    onTestFinished(() => letTimePass(instance, '0 days'));
    expect(await forecastOf(operator, again)).toMatchObject({ people: 1, asked: 1 });
  });

  it('who never answered, without a ground', async () => {
    const element = await makeAskedElement(admin);
    const name = `${randomUUID()}@example.org`;
    await operator.send('POST', '/subjects', { name, emailAddress: name });
    const body = {
      name: 'First time',
      select: { elements: [element.key], who: ['NEVER'], subjects: [name] },
      context: element.context,
    };
    const refused = await operator.send('POST', '/campaigns', body);
    expect(await problemOf(refused)).toMatchObject({ said: '422 invalid', errors: [{ pointer: '/ground' }] });
    const id = await draftCampaign(operator, element, { ...body, ground: 'They asked us to' });
    expect(await forecastOf(operator, id)).toMatchObject({ people: 1, asked: 1 });
    await setCampaign(operator, id, 'RUNNING');
    await untilCounts(operator, id, { SENT: 1 });
    const listed = await admin.get(`/audit/consents?target=campaign/${id}`);
    const { values } = (await listed.json()) as components['schemas']['AuditList'];
    expect(values).toMatchObject([{ action: 'campaign.started', outcome: 'They asked us to' }, {}]);
  });
});

describe('a campaign', () => {
  it('refuses elements of peers, elements that its form does not ask, and people that are not known', async () => {
    const element = await makeAskedElement(admin);
    const draft = (select: object) =>
      operator.send('POST', '/campaigns', {
        name: 'x',
        select: { elements: [element.key], who: ['CHANGED'], ...select },
        context: element.context,
      });
    for (const elements of [['study@lab.example.org'], ['processing.001']])
      expect(await problemOf(await draft({ elements }))).toMatchObject({
        said: '422 invalid',
        errors: [{ pointer: '/select/elements/0' }],
      });
    expect(await problemOf(await draft({ subjects: ['nobody at all'] }))).toMatchObject({
      said: '422 invalid',
      errors: [{ pointer: '/select/subjects/0' }],
    });
  });

  it('is changed only as a draft, and shows its text in the reader’s language', async () => {
    const element = await makeAskedElement(admin);
    const id = await draftCampaign(operator, element);
    const body = {
      name: 'Renamed',
      select: { elements: [element.key], who: ['EXPIRED', 'EXPIRING'] },
      context: element.context,
      hours: { from: '08:00', to: '20:00' },
    };
    expect(await (await operator.send('PUT', `/campaigns/${id}`, body)).json()).toMatchObject({
      name: 'Renamed',
      hours: { from: '08:00', to: '20:00' },
    });
    const shown = await (await operator.get(`/campaigns/${id}/message?language=fr`)).json();
    expect(shown).toMatchObject({ language: 'fr', text: expect.stringMatching(/ne sont plus\s+valables/) });
    await setCampaign(operator, id, 'CANCELLED');
    expect(await problemOf(await operator.send('PUT', `/campaigns/${id}`, body))).toMatchObject({
      said: '409 wrong-state',
    });
    expect((await setCampaign(operator, id, 'CANCELLED')).status).toBe(200);
    expect(await problemOf(await setCampaign(operator, id, 'RUNNING'))).toMatchObject({
      said: '409 wrong-state',
    });
  });

  it('is paused, and says why, when its form can no longer ask its elements', async () => {
    const element = await makeAskedElement(admin);
    for (const _ of [1, 2]) await element.answered();
    await element.change();
    const id = await writeTo(element, { perMinute: 1 });
    expect((await element.remove()).status).toBe(204);
    onTestFinished(() => letTimePass(instance, '0 days'));
    await letTimePass(instance, '2 minutes');
    await until(async () =>
      expect(await readCampaign(operator, id)).toMatchObject({
        state: 'PAUSED',
        problem: 'FORM',
        counts: { PICKED: 1 },
      }),
    );
    expect((await setCampaign(operator, id, 'RUNNING')).status).toBe(422);
    const console = await openPages(instance, 'operator');
    onTestFinished(console.close);
    expect(await (await console.get(`/console/campaigns/${id}`)).text()).toContain(
      'Mend the form, then continue.',
    );
  });

  it('loses a person with the erasure, and leaves nothing of the name', async () => {
    const element = await makeAskedElement(admin);
    const ann = await element.answered();
    await element.change();
    const id = await draftCampaign(operator, element, { select: { subjects: [ann] } });
    await setCampaign(operator, id, 'RUNNING');
    await untilCounts(operator, id, { SENT: 1 });
    expect((await admin.send('POST', `/subjects/${encodeURIComponent(ann)}/erasure`)).status).toBe(202);
    await until(async () => expect(await membersOf(operator, id)).toEqual([]));
    const left = await rowsOf(
      instance,
      `SELECT FROM transactions.campaigns AS c WHERE c::text LIKE '%' || $1 || '%'
       UNION ALL SELECT FROM transactions.campaign_subjects AS s WHERE s.campaign = $2`,
      [ann, id],
    );
    expect(left).toEqual([]);
  });

  it('is tried again after a refusal for a while, FAILED after one for good, and UNSURE if the reply was lost', async () => {
    const element = await makeAskedElement(admin);
    const [refused, lost, busy] = [
      await element.answered(),
      await element.answered(),
      await element.answered(),
    ];
    server.behave(refused, { recipient: 550 });
    server.behave(busy, { recipient: 450 });
    server.behave(lost, { drops: 'after' });
    await element.change();
    const id = await draftCampaign(operator, element);
    await setCampaign(operator, id, 'RUNNING');
    const stateOf = async (name: string) =>
      (await membersOf(operator, id)).find(({ subject }) => subject === name)?.state;
    await until(async () => expect(await stateOf(refused)).toBe('FAILED'));
    await until(async () => expect(await stateOf(lost)).toBe('UNSURE'));
    server.behave(busy, {});
    onTestFinished(() => letTimePass(instance, '0'));
    await letTimePass(instance, '1 hour');
    await until(async () => expect(await stateOf(busy)).toBe('SENT'));
    expect([server.to(lost).length, server.to(busy).length, server.to(refused).length]).toEqual([1, 1, 0]);
  });
});
