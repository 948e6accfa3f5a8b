import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { sendForm } from '../support/console/sent-form.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { makeLiveModel } from '../support/instances/live-models.ts';
import { startEndpoint } from '../support/instances/webhook-endpoint.ts';
import { plainSpaces } from '../support/pages/plain-spaces.ts';

const instance = useInstance();
let admin: ConsolePages;
let operator: ConsolePages;
beforeAll(async () => {
  admin = await openPages(instance, 'admin');
  operator = await openPages(instance, 'operator');
});
afterAll(() => Promise.all([admin, operator].map((each) => each?.close())));

const here = '/console/integration';
const onceOf = (html: string) => /name="once" value="([^"]+)"/.exec(html)?.[1] ?? '';
const textOf = async (path: string, by = admin) => (await by.get(path)).text();
/** Sends the form of a page. @returns the answer. */
async function send(path: string, fields: Record<string, string>) {
  return admin.post(path, { once: onceOf(await textOf(path)), ...fields });
}
/** The hidden field of the button that repeats the failed deliveries of a page. */
const idsOf = async (path: string) => ({
  ids: /name="ids" value="([^"]+)"/.exec(await textOf(path))?.[1] ?? '',
});
/** What a page says; commands for programs aside. */
const visibleText = (html: string) =>
  html.replaceAll(/<(pre|textarea)[\s\S]*?<\/\1>/g, '').replaceAll(/<[^>]*>/g, ' ');
/** A value that is shown to be copied. */
const copied = (html: string) => /<textarea class="code" id="secret"[^>]*>\s*([^<]+)</.exec(html)?.[1] ?? '';

describe('API keys in the console', () => {
  it('are told apart: by their beginning, who made them, until when, and the elements that were chosen by name', async () => {
    const form = await textOf(`${here}/security/new`);
    expect(form).toMatch(/value="processing\.001"[\s\S]{0,200}Programme letter/);
    const fields = {
      name: 'Gateway',
      scope: 'DECISION',
      elements: 'processing.001',
      expirationDate: '2999-12-30',
    };
    const key = copied(await (await send(`${here}/security/new`, fields)).text());
    const row = (await textOf(`${here}/security`)).split('<tr').find((each) => each.includes('Gateway'));
    for (const text of [`${key?.slice(0, 20)}…`, 'Programme letter', 'admin', '31 Dec 2999'])
      expect(row).toContain(text);
  });

  it('cannot end in the past', async () => {
    const response = await send(`${here}/security/new`, {
      name: 'Old',
      scope: 'OWNER',
      expirationDate: '2001-01-01',
    });
    expect(response.status).toBe(422);
    expect(await response.text()).toContain('href="#field-expirationDate"');
  });

  it('are made once, shown once, and work', async () => {
    const once = onceOf(await textOf(`${here}/security/new`));
    const fields = { once, name: 'Ticket shop', scope: 'OWNER' };
    const first = await admin.post(`${here}/security/new`, fields);
    const key = copied(await first.text());
    expect((await instance.fetch('/user', { headers: { CM_KEY: key } })).status).toBe(200);
    const again = await admin.post(`${here}/security/new`, fields);
    expect(again.headers.get('location')).toBe(`${here}/security?done=repeated`);
    const list = await textOf(`${here}/security`);
    expect(list.match(/Ticket shop/g)).toHaveLength(1);
    expect(list).not.toContain(key);
  });

  it('are revoked after a page that says when they were last used', async () => {
    const key = copied(await (await send(`${here}/security/new`, { name: 'Old', scope: 'OWNER' })).text());
    const list = await textOf(`${here}/security`);
    const path = /Old<[\s\S]*?href="([^"]+\/revoke)"/.exec(list)?.[1] ?? '';
    expect(await textOf(path)).toContain('It was never used.');
    expect((await admin.post(path, {})).headers.get('location')).toBe(`${here}/security?done=keyRevoked`);
    expect((await instance.fetch('/user', { headers: { CM_KEY: key } })).status).toBe(401);
  });

  it('keep what was typed if the API refuses them', async () => {
    const response = await send(`${here}/security/new`, { name: 'x'.repeat(256), scope: 'OWNER' });
    expect(response.status).toBe(422);
    const html = await response.text();
    expect(html).toContain('x'.repeat(256));
    expect(html).toContain('href="#field-name"');
  });

  it('are for a partner only where the page says so, with the scope fixed and the end of their use', async () => {
    expect(await textOf(`${here}/peers`)).toContain(`href="${here}/security/new?scope=PEER"`);
    const page = await textOf(`${here}/security/new?scope=PEER`);
    expect(page).toContain('It can be used once, within seven days');
    expect(page).toContain('type="hidden" name="scope" value="PEER"');
    expect(page).not.toContain('type="radio"');
    const made = await admin.fill(`${here}/security/new?scope=PEER`, { name: 'Northern Lab' });
    const html = await made.text();
    expect(html).toMatch(/It can be used once, until \d/);
    const key = copied(html);
    expect((await instance.fetch('/user', { headers: { CM_KEY: key } })).status).not.toBe(200);
    // The page for own keys makes none of this scope.
    expect(await textOf(`${here}/security/new`)).not.toContain('value="PEER"');
    const list = await textOf(`${here}/security`);
    expect(list).toContain('Partner');
    for (const shown of [page, html, list, await textOf(`${here}/peers/new`)])
      expect(visibleText(shown)).not.toMatch(/\b(OWNER|PEER|DECISION)\b/);
  });

  it('are for administrators', async () => {
    expect((await operator.get(`${here}/security`)).status).toBe(403);
    expect((await operator.get(here)).headers.get('location')).toBeNull();
    expect(await textOf(`${here}/webhooks`, operator)).not.toContain('/integration/security');
  });
});

describe('webhooks in the console', () => {
  it('are created with a secret that is shown once, tested, changed and deleted', async () => {
    const answer = await send(`${here}/webhooks/new`, {
      name: 'Ledger',
      targetUrl: 'http://127.0.0.1:9/hook',
      actions: 'consent.committed',
    });
    const html = await answer.text();
    expect(copied(html)).toMatch(/^whsec_/);
    const path = /href="(\/console\/integration\/webhooks\/[^"]+)"/.exec(html)?.[1] ?? '';
    const tested = (await admin.post(`${path}/test`, {})).headers.get('location') ?? '';
    expect(tested.startsWith(`${path}/deliveries/`) && tested.endsWith('?done=webhookTested')).toBe(true);
    expect(await textOf(path)).toContain('webhook.test');
    const changed = await admin.post(`${path}/edit`, {
      name: 'Ledger 2',
      targetUrl: 'http://127.0.0.1:9/hook',
      actions: 'consent.cancelled',
    });
    expect(changed.headers.get('location')).toBe(`${path}?done=webhookChanged`);
    expect(await textOf(path)).toContain('Ledger 2');
    expect(copied(await (await admin.post(`${path}/secret`, {})).text())).toMatch(/^whsec_/);
    expect((await admin.post(`${path}/delete`, {})).headers.get('location')).toBe(
      `${here}/webhooks?done=webhookDeleted`,
    );
    expect((await admin.get(path)).status).toBe(404);
  });

  it('show and change the organisation that is told of withdrawals', async () => {
    const fields = { targetUrl: 'http://127.0.0.1:9/hook', actions: 'consent.withdrawn' };
    const recipient = { recipient: 'Letters Ltd', elements: 'processing.001', acknowledgeWithin: 'P2D' };
    const answer = await send(`${here}/webhooks/new`, { ...fields, ...recipient });
    const path = /href="(\/console\/integration\/webhooks\/[^"]+)"/.exec(await answer.text())?.[1] ?? '';
    const page = plainSpaces(await textOf(path));
    for (const shown of ['Letters Ltd', 'Programme letter', '2 days']) expect(page).toContain(shown);
    const form = await (await admin.get(`${path}/edit`)).text();
    for (const shown of ['Letters Ltd', 'P2D']) expect(form).toContain(`value="${shown}"`);
    expect(form).toMatch(/name="elements" value="processing\.001" checked[^<]*><span>Programme letter</);
    const unnamed = await admin.post(`${path}/edit`, { ...fields, acknowledgeWithin: 'P2D' });
    expect(unnamed.status).toBe(422);
    expect(await unnamed.text()).toContain('href="#field-acknowledgeWithin"');
    await admin.post(`${path}/edit`, fields);
    expect(await textOf(path)).not.toContain('Letters Ltd');
    await admin.post(`${path}/delete`, {});
  });

  it('keep elements that programs have set, also those that are unknown here', async () => {
    const caller = await signIn(instance, 'admin');
    const made = await caller.send('POST', '/webhooks', {
      targetUrl: 'http://127.0.0.1:9/hook',
      subscribedActions: ['consent.withdrawn'],
      elements: ['processing.002', 'a.b'],
    });
    const { id } = (await made.json()) as { id: string };
    const path = `${here}/webhooks/${id}/edit`;
    const changed = await sendForm(admin, { path, html: await textOf(path) }, [['name', 'Kept']]);
    expect(changed.headers.get('location')).toBe(`${here}/webhooks/${id}?done=webhookChanged`);
    const kept = (await (await caller.get(`/webhooks/${id}`)).json()) as { elements: string[] };
    expect(new Set(kept.elements)).toEqual(new Set(['processing.002', 'a.b']));
    await admin.post(`${here}/webhooks/${id}/delete`, {});
  });

  it('lead from a delivery to the transaction that it concerns', async () => {
    const endpoint = await startEndpoint();
    const fields = { targetUrl: endpoint.url, actions: 'consent.created' };
    const answer = await send(`${here}/webhooks/new`, fields);
    const path = /href="(\/console\/integration\/webhooks\/[^"]+)"/.exec(await answer.text())?.[1] ?? '';
    const caller = await signIn(instance, 'admin');
    const asked = await caller.send('POST', '/consents', { subject: 'led', layout: 'layout.001' });
    const { id } = (await asked.json()) as { id: string };
    await endpoint.called(1);
    await admin.post(`${path}/test`, {});
    await endpoint.called(2);
    const list = await textOf(path);
    expect(list.match(/href="\/console\/transactions\/\w+"/g)).toEqual([
      `href="/console/transactions/${id}"`,
    ]);
    const delivery =
      /href="([^"]*\/deliveries\/[^"]+)"[^>]*>[^a-z]*<?[^>]*>?consent\.created/.exec(list)?.[1] ?? '';
    expect(await textOf(delivery)).toContain(`href="/console/transactions/${id}"`);
    await admin.post(`${path}/delete`, {});
  });

  it('send a message again: one, or all failed ones that are shown', async () => {
    const endpoint = await startEndpoint();
    endpoint.answerWith(503);
    const answer = await send(`${here}/webhooks/new`, {
      targetUrl: endpoint.url,
      actions: 'consent.committed',
    });
    const path = /href="(\/console\/integration\/webhooks\/[^"]+)"/.exec(await answer.text())?.[1] ?? '';
    for (const count of [1, 2]) {
      await admin.post(`${path}/test`, {});
      await endpoint.called(count);
    }
    await expect.poll(() => textOf(path)).toContain('name="ids"');
    await expect
      .poll(async () => (await textOf(`${path}?status=FAILED`)).match(/>webhook\.test</g))
      .toHaveLength(2);
    endpoint.answerWith(204);
    const all = await admin.post(`${path}/redeliver`, await idsOf(`${path}?status=FAILED`));
    expect(all.headers.get('location')).toBe(`${path}?done=redelivered`);
    await endpoint.called(4);
    await expect
      .poll(async () => (await textOf(`${path}?status=DELIVERED`)).match(/>webhook\.test</g))
      .toHaveLength(2);
    const one = /href="([^"]+\/deliveries\/[^"]+)"/.exec(await textOf(path))?.[1] ?? '';
    expect((await admin.get(one)).status).toBe(200);
    const again = (await admin.post(`${one}/again`, {})).headers.get('location') ?? '';
    expect(again).toMatch(new RegExp(`^${path}/deliveries/[\\w-]{36}\\?done=redelivered$`));
    expect(again).not.toContain(one);
    await endpoint.called(5);
    await admin.post(`${path}/delete`, {});
  });

  it('name the faulty field and keep what was typed', async () => {
    const response = await send(`${here}/webhooks/new`, { targetUrl: 'ftp://nowhere', name: 'Keep me' });
    expect(response.status).toBe(422);
    const html = await response.text();
    expect(html).toContain('value="Keep me"');
    expect(html).toContain('href="#field-targetUrl"');
  });
});

describe('peers in the console', () => {
  it('cannot be paired with a wrong key, which is not shown again', async () => {
    const response = await send(`${here}/peers/new`, { url: 'http://127.0.0.1:9', apiKey: 'a-wrong-key' });
    expect(response.status).toBeGreaterThanOrEqual(400);
    const html = await response.text();
    expect(html).toContain('http://127.0.0.1:9');
    expect(html).not.toContain('a-wrong-key');
  });
});

describe('code in the console', () => {
  it('has the addresses of this instance, and creates a transaction as copied', async () => {
    const html = await textOf(`${here}/code?place=curl`);
    const text = /id="code-0"[^>]*>\s*([^<]+)</.exec(html)?.[1] ?? '';
    expect(text).toContain(`curl -s ${instance.url}/consents`);
    expect(text).toContain('jq -r .links.subject');
    expect(text).toContain('$ACCORD_KEY');
    expect(await textOf(`${here}/code?place=curl&language=fr`)).toContain(
      '&quot;language&quot;:&quot;fr&quot;',
    );
    expect(html).toMatch(/<option value="fr">French</);
    expect(html).not.toMatch(/<option value="ru"/);
    for (const typed of ['French', '<b>']) {
      const page = await admin.get(`${here}/code?place=curl&language=${encodeURIComponent(typed)}`);
      expect(page.status).toBe(200);
      expect(await page.text()).not.toContain('&quot;language&quot;');
    }
    for (const place of ['node', 'php', 'iframe', 'link'])
      expect((await admin.get(`${here}/code?place=${place}`)).status).toBe(200);
    expect(await textOf(`${here}/code?place=iframe`)).toContain(`${instance.url}/assets/embed.js`);
  });

  it('is HTML alone for a form with an address of its own, and says how to get one otherwise', async () => {
    const caller = await signIn(instance, 'admin');
    const content = { type: 'layout', elements: ['processing.001'], public: { identify: 'ANONYMOUS' } };
    const { key } = await makeLiveModel(caller, 'layout', { en: content });
    for (const place of ['', '&place=link', '&place=iframe']) {
      const html = await textOf(`${here}/code?form=${key}${place}`);
      expect(html).toContain(`=&quot;${instance.url}/f/${key}&quot;`);
      expect(html).not.toContain('ACCORD_KEY');
    }
    const without = await textOf(`${here}/code?form=layout.001`);
    expect(without).toContain('href="/console/forms/layout.001/address"');
    expect(without).toContain('ACCORD_KEY');
  });
});

describe('the pages of Integration', () => {
  it.each(['en', 'fr', 'ar'])('have all their words in %s', async (language) => {
    for (const path of [
      'security',
      'security/new',
      'webhooks',
      'webhooks/new',
      'peers',
      'peers/new',
      'code',
    ]) {
      const response = await admin.get(`${here}/${path}`, { 'Accept-Language': language });
      expect(response.status, path).toBe(200);
      const html = await response.text();
      expect(html, path).not.toMatch(/>(keys|webhooks|peers|code|integration)\.[a-zA-Z]+</);
      expect(html).not.toMatch(/ style=|<style|<script>| on\w+=/);
    }
  });
});
