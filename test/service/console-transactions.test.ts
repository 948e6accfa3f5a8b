import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { makeAskedElement } from '../support/instances/live-campaigns.ts';
import { acknowledge, addRecipient, recipientIn, withdrawNew } from '../support/instances/live-recipients.ts';
import { letter } from '../support/instances/live-subject.ts';
import { recordAnswers, recordsOf } from '../support/instances/live-transactions.ts';
import { deliveriesOf, startEndpoint } from '../support/instances/webhook-endpoint.ts';

const instance = useInstance();
let operator: ConsolePages;
beforeAll(async () => {
  operator = await openPages(instance, 'operator');
});
afterAll(() => operator?.close());

const here = '/console/transactions';
const textOf = async (path: string) => (await operator.get(path)).text();
/** Creates a transaction of the demonstration's form. @returns its id. */
async function create(subject: string): Promise<string> {
  const { headers } = await signIn(instance, 'operator');
  const response = await instance.fetch('/consents', {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json' },
    body: JSON.stringify({ subject, layout: 'layout.001' }),
  });
  return ((await response.json()) as { id: string }).id;
}

describe('transactions in the console', () => {
  it('are listed newest first, by state, and exported', async () => {
    const id = await create('zoe');
    const all = await textOf(here);
    expect(all).toContain(id);
    expect(all).toMatch(/<a href="\/console\/forms\/layout\.001"><bdi>First visit/);
    expect(await textOf(`${here}?states=CREATED`)).toContain(id);
    const none = await textOf(`${here}?states=ROLLBACK`);
    expect(none).not.toContain(id);
    expect(none).toContain('Nothing matches these filters.');
    expect(await textOf(`${here}?format=csv`)).toContain(`${id},zoe,layout.001,FORM,CREATED`);
  });

  it('say who has withdrawn, also by an answer in a form, on one page and in its file', async () => {
    const shop = await signIn(instance, 'operator');
    const { id: accepted } = await recordAnswers(shop, 'hal', { [letter]: ['accepted'] });
    const { id: refused } = await recordAnswers(shop, 'hal', { [letter]: ['refused'] });
    const today = new Date().toISOString().slice(0, 10);
    const filtered = `${here}?kind=WITHDRAWAL&after=${today}&before=${today}`;
    const html = await textOf(filtered);
    expect(html).toContain('<option value="WITHDRAWAL" selected>Withdrawal or objection</option>');
    expect(html).toContain(refused);
    expect(html).not.toContain(accepted);
    expect(await textOf(`${filtered}&format=csv`)).toContain(`${refused},hal,,"FORM,WITHDRAWAL",COMMITTED`);
  });

  it('are found by the name of a person, which is in no URL', async () => {
    const id = await create('Ann Example');
    const response = await operator.post(here, { subject: 'Ann Example' });
    const found = response.headers.get('location') ?? '';
    expect(found).toMatch(/^\/console\/transactions\?s=[\w-]+$/);
    const html = await textOf(`${found}&states=CREATED`);
    expect(html).toContain(id);
    expect(html.match(/(href|action)="[^"]*"/g)?.join()).not.toMatch(/Ann/);
  });

  it('are found by the whole e-mail address of a person, and people who share one are a list', async () => {
    const shop = await signIn(instance, 'operator');
    const subjectInfos = { emailAddress: 'anna.meier@example.org' };
    const ask = (subject: string) =>
      shop.send('POST', '/consents', { subject, layout: 'layout.001', subjectInfos });
    const { id } = (await (await ask('customer 77')).json()) as { id: string };
    const find = async () => {
      const sent = await operator.post(here, { subject: 'Anna.Meier@example.org' });
      return sent.headers.get('location') ?? '';
    };
    expect(await textOf(await find())).toMatch(new RegExp(`Transactions of customer 77.*${id}`, 's'));
    await ask('customer 78');
    const people = await find();
    expect(people).toMatch(/^\/console\/subjects\?s=/);
    for (const name of ['customer 77', 'customer 78']) expect(await textOf(people)).toContain(name);
  });

  it('are found by their id', async () => {
    const id = await create('ben');
    const response = await operator.post(here, { subject: id });
    expect(response.headers.get('location')).toBe(`${here}/${id}`);
  });

  it('show state, timeline and context, and a link for the person on demand alone', async () => {
    const id = await create('carla');
    const html = await textOf(`${here}/${id}`);
    for (const text of ['Open', 'carla', 'layout.001', 'Timeline', 'No message was sent.'])
      expect(html).toContain(text);
    expect(html).not.toMatch(/[?&]t=|eyJ/);
    expect(await textOf(`${here}/${id}/link`)).toContain('Who has the link can answer and withdraw');
    const shown = await (await operator.fill(`${here}/${id}/link`, {})).text();
    const link = /<textarea class="code" id="secret"[^>]*>\s*([^<]+)</.exec(shown)?.[1]?.trim() ?? '';
    const form = await fetch(link.replaceAll('&amp;', '&'), { headers: { Accept: 'text/html' } });
    expect(form.status).toBe(200);
  });

  it('are cancelled after a page that says what it means', async () => {
    const id = await create('dora');
    expect(await textOf(`${here}/${id}/cancel`)).toContain('cannot answer it any more');
    const answer = await operator.post(`${here}/${id}/cancel`, {});
    expect(answer.headers.get('location')).toBe(`${here}/${id}?done=cancelled`);
    expect(await textOf(`${here}/${id}`)).toContain('Cancelled');
    const again = await operator.post(`${here}/${id}/cancel`, {});
    expect(again.status).toBe(409);
  });

  it('are repeated once, however often the form is sent', async () => {
    const shop = await signIn(instance, 'operator');
    const { id } = await recordAnswers(shop, 'egon', { [letter]: ['accepted'] });
    const html = await textOf(`${here}/${id}/child`);
    const once = /name="once" value="([^"]+)"/.exec(html)?.[1] ?? '';
    const sent = await Promise.all([1, 2].map(() => operator.post(`${here}/${id}/child`, { once })));
    const locations = sent.map(({ headers }) => headers.get('location') ?? '').sort();
    expect(locations.filter((each) => each.endsWith('done=childMade'))).toHaveLength(1);
    expect(locations).toContain(`${here}/${id}?done=repeated`);
  });

  it('lead to the person, where each consent is withdrawn by itself, also one that a major version has ended', async () => {
    const shop = await signIn(instance, 'operator');
    const boss = await signIn(instance, 'admin');
    const element = await makeAskedElement(boss);
    const name = await element.answered();
    const [record] = (await recordsOf(shop, name))[element.key] ?? [];
    await element.change();
    const html = await textOf(`${here}/${record?.transaction}`);
    expect(html).not.toContain('/withdraw"');
    expect((await operator.post(`${here}/${record?.transaction}/withdraw`, {})).status).toBe(404);
    const [, person = ''] = /href="([^"]+)">Withdraw a consent of the person</.exec(html) ?? [];
    const [, act = ''] = /href="([^"]+\/withdraw\?[^"]+)"/.exec(await textOf(person)) ?? [];
    const withdrawn = await operator.fill(act.replaceAll('&amp;', '&'), { way: 'TELEPHONE' });
    expect(await textOf(withdrawn.headers.get('location') ?? '')).toContain('The consent is withdrawn.');
    const newest = (await recordsOf(shop, name))[element.key]?.[0];
    expect(newest).toMatchObject({ value: 'refused' });
    // The transaction of the withdrawal offers none.
    expect(await textOf(`${here}/${newest?.transaction}`)).not.toContain('Withdraw a consent');
  });

  it('say to which address an invitation goes: theirs, else the one of the person', async () => {
    const shop = await signIn(instance, 'operator');
    await shop.send('POST', '/subjects', { name: 'frida', emailAddress: 'frida@example.org' });
    const known = await create('frida');
    expect(await textOf(`${here}/${known}/invite`)).toContain('By e-mail, to frida@example.org');
    const sent = await operator.fill(`${here}/${known}/invite`, { way: 'mail' });
    expect(sent.headers.get('location')).toBe(`${here}/${known}?done=invited`);
    const own = await shop.send('POST', '/consents', {
      subject: 'frida',
      layout: 'layout.001',
      subjectInfos: { emailAddress: 'frida.b@example.org' },
    });
    const { id } = (await own.json()) as { id: string };
    expect(await textOf(`${here}/${id}/invite`)).toContain('By e-mail, to frida.b@example.org');
  });

  it('ask for an address that nothing has, before an invitation is sent, and keep it', async () => {
    const id = await create('gert');
    expect(await textOf(`${here}/${id}/invite`)).toContain('No address of this person is known.');
    const sent = await operator.fill(`${here}/${id}/invite`, {
      way: 'mail',
      emailAddress: 'gert@example.org',
    });
    expect(sent.headers.get('location')).toBe(`${here}/${id}?done=invited`);
    const shop = await signIn(instance, 'operator');
    expect(await (await shop.get('/subjects/gert')).json()).toMatchObject({
      emailAddress: 'gert@example.org',
    });
  });

  it('say why an invitation cannot be sent', async () => {
    const id = await create('emil');
    const answer = await operator.post(`${here}/${id}/invite`, {});
    expect(answer.status).toBe(422);
    expect(await answer.text()).toContain('role="alert"');
  });

  it('are found by days of the instance’s time zone; a day that does not exist is no filter', async () => {
    const id = await create('fay');
    const today = new Date().toISOString().slice(0, 10);
    expect(await textOf(`${here}?after=${today}&before=${today}`)).toContain(id);
    expect(await textOf(`${here}?before=2020-02-29`)).not.toContain(id);
    expect(await textOf(`${here}?before=2021-02-29`)).toContain(id);
  });

  it('tell which webhooks were told, and how that went', async () => {
    const admin = await signIn(instance, 'admin');
    const subscribedActions = ['consent.created'];
    const targetUrl = 'https://shop.example.org/hooks';
    await admin.send('POST', '/webhooks', { name: 'the shop', targetUrl, subscribedActions });
    const id = await create('gus');
    await expect.poll(() => textOf(`${here}/${id}`)).toMatch(/>the shop<[\s\S]*consent\.created/);
  });

  it('and webhooks show who is told of a withdrawal, its state, and what the organisation has answered', async () => {
    const shop = await signIn(instance, 'operator');
    const admin = await openPages(instance, 'admin');
    onTestFinished(admin.close);
    const endpoint = await startEndpoint();
    endpoint.answerWith(503);
    const webhook = await addRecipient(shop, endpoint.url, { acknowledgeWithin: 'P2D' });
    const withdrawal = await withdrawNew(shop);
    const path = `${here}/${withdrawal.id}`;
    const hook = `/console/integration/webhooks/${webhook.id}`;
    await endpoint.called(1);
    const rowOf = async (pages: ConsolePages, at: string, name: RegExp) => {
      const rows = (await (await pages.get(at)).text()).match(/<tr[\s>][\s\S]*?<\/tr>/g) ?? [];
      return rows.find((row) => name.test(row))?.replace(/<[^>]*>/g, ' ') ?? '';
    };
    const recipient = /Letters Ltd/;
    await expect.poll(() => textOf(path)).toContain('Who is told');
    expect(await rowOf(operator, path, recipient)).toContain('Not delivered yet');

    endpoint.answerWith(204);
    const [waiting] = await deliveriesOf(shop, webhook);
    await shop.send('POST', `/webhooks/${webhook.id}/deliveries/${waiting?.id}/redeliver`);
    await recipientIn(shop, withdrawal, 'DELIVERED');
    expect(await rowOf(operator, path, recipient)).toMatch(/\sDelivered\s/);
    const call = endpoint.calls.at(-1);
    const note = 'Invoices <b>are kept</b>';
    const answered = await acknowledge(call?.event.data.acknowledge, { outcome: 'kept', note });
    expect(answered.status).toBe(204);
    await recipientIn(shop, withdrawal, 'ACKNOWLEDGED');
    const kept = await rowOf(operator, path, recipient);
    expect(kept).toContain('Acknowledged; keeps data');
    expect(kept).toContain('Invoices &lt;b&gt;are kept&lt;/b&gt;');
    await expect.poll(() => rowOf(admin, hook, /consent\.withdrawn/)).toContain('Acknowledged; keeps data');
    // People do not see the note.
    const own = await instance.fetch(`/consents/${withdrawal.id}?t=${withdrawal.token}`);
    expect(await own.text()).not.toContain('are kept');
  });

  it('that do not exist are a page with 404', async () => {
    expect((await operator.get(`${here}/unknown`)).status).toBe(404);
  });

  it.each(['en', 'fr', 'ar'])('have all their words in %s', async (language) => {
    const id = await create('words');
    for (const path of ['', `/${id}`, `/${id}/cancel`, `/${id}/child`, `/${id}/invite`]) {
      const html = await (await operator.get(here + path, { 'Accept-Language': language })).text();
      expect(html, path).not.toMatch(/>(transactions|partState|messageKind|origin)\.[a-zA-Z.-]+</);
    }
  });
});
