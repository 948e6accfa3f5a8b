import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { useInstance } from '../support/instances/instance.ts';

const instance = useInstance();
let admin: ConsolePages;
let operator: ConsolePages;
beforeAll(async () => {
  admin = await openPages(instance, 'admin');
  operator = await openPages(instance, 'operator');
});
afterAll(() => Promise.all([admin, operator].map((each) => each?.close())));

const here = '/console/settings';
const onceOf = (html: string) => /name="once" value="([^"]+)"/.exec(html)?.[1] ?? '';
const textOf = async (path: string, by = admin) => (await by.get(path)).text();
/** Invites a person. @returns the answer, and the page of the account. */
async function invite(name: string, role: string) {
  const once = onceOf(await textOf(`${here}/accounts/new`));
  const response = await admin.post(`${here}/accounts/new`, { once, name, role });
  const html = await response.text();
  const list = await textOf(`${here}/accounts`);
  const path = new RegExp(`href="([^"]+)"[^>]*><bdi>${name}<`).exec(list)?.[1] ?? '';
  return { status: response.status, html, path };
}

describe('the settings in the console', () => {
  it('name the environment variable of each fact', async () => {
    const html = await textOf(here);
    for (const name of ['BASE_URL', 'OIDC_ISSUER', 'MAIL_URL']) expect(html).toContain(name);
    expect(html).not.toContain('INSTANCE_NAME');
    expect(html).toContain(instance.url);
    const rows = html.split('<dt>').map((row) =>
      row
        .replaceAll(/<[^>]+>/g, ' ')
        .replaceAll(/\s+/g, ' ')
        .trim(),
    );
    const { languages, features } = (await (await instance.fetch('/system/config')).json()) as {
      languages: string[];
      features: string[];
    };
    const words = new Intl.DisplayNames('en', { type: 'language' });
    for (const language of languages)
      expect(rows.find((row) => row.startsWith('Languages of pages'))).toContain(words.of(language));
    for (const [feature, row] of [
      ['mail', 'E-mail MAIL_URL'],
      ['sms', 'Text messages SMS_URL'],
      ['pdf', 'Receipts as PDF'],
      ['accounts', 'Accounts of this instance OIDC_ISSUER'],
    ] as const)
      expect(rows).toContain(`${row} ${features.includes(feature) ? 'Available' : 'Not set up'}`);
  });

  it('are for administrators; an operator has the own ones', async () => {
    expect((await operator.get(here)).url).toContain(`${here}/you`);
    expect((await operator.get(`${here}/accounts`)).status).toBe(403);
  });
});

describe('the settings of the instance in the console', () => {
  const pinned = useInstance({ INSTANCE_NAME: 'Northern Lab', MAIL_FROM: 'Lab <post@lab.example>' });
  const change = async (pages: ConsolePages, fields: Record<string, string>) => {
    const html = await (await pages.get(`${here}/change`)).text();
    const etag = /name="etag" value="([^"]*)"/.exec(html)?.[1]?.replaceAll('&quot;', '"') ?? '';
    return pages.post(`${here}/change`, { etag, ...fields });
  };

  it('are changed, and say so', async () => {
    const sender = { senderName: 'Clinic', senderAddress: 'post@clinic.example' };
    const sent = await change(admin, { name: 'Lakeside Clinic', timeZone: 'Europe/Paris', ...sender });
    expect(sent.headers.get('location')).toBe(`${here}?done=settingsChanged`);
    const html = await textOf(here);
    for (const value of ['Lakeside Clinic', 'Europe/Paris', 'Clinic &lt;post@clinic.example&gt;'])
      expect(html).toContain(value);
    // What the form does not have stays, and an empty choice is the default.
    await change(admin, { name: '', recordRetention: 'P1Y' });
    expect(await textOf(here)).toContain('Riverside Theatre');
    expect(await textOf(here)).toContain('Clinic &lt;post@clinic.example&gt;');
  });

  it('are not overwritten by a form that was opened before another change', async () => {
    const html = await textOf(`${here}/change`);
    const etag = /name="etag" value="([^"]*)"/.exec(html)?.[1]?.replaceAll('&quot;', '"') ?? '';
    await change(admin, { name: 'First' });
    expect((await admin.post(`${here}/change`, { etag, name: 'Second' })).status).toBe(412);
    expect(await textOf(here)).toContain('First');
  });

  it('show a fault at its field, and what was typed', async () => {
    const refused = await change(admin, { name: 'Clinic', senderName: '', senderAddress: 'nobody' });
    expect(refused.status).toBe(422);
    const html = await refused.text();
    expect(html).toContain('This is not an e-mail address');
    expect(html).toContain('value="nobody"');
  });

  it('that the environment pins have no field, and stand with their variable', async () => {
    const pages = await openPages(pinned, 'admin');
    try {
      const shown = await (await pages.get(here)).text();
      expect(shown).toMatch(/Set by[\s\S]{0,80}INSTANCE_NAME/);
      const html = await (await pages.get(`${here}/change`)).text();
      expect(html).toContain('Name and Sender of mails');
      expect(html).not.toMatch(/name="(name|senderAddress)"/);
      expect(html).toContain('name="timeZone"');
    } finally {
      await pages.close();
    }
  });
});

describe('accounts in the console', () => {
  it('are invited with a link that is shown once', async () => {
    const { html, path } = await invite('zoe', 'operator');
    expect(html).toContain(`${instance.url}/auth/setup?token=`);
    expect(html).toContain('No e-mail was sent.');
    expect(await textOf(path)).not.toContain('/auth/setup?token=');
    expect(await textOf(path)).toContain('Invited');
  });

  it('get another role, are disabled, enabled and deleted', async () => {
    const { path } = await invite('ann', 'user');
    expect((await admin.post(path, { role: 'operator' })).headers.get('location')).toBe(
      `${path}?done=accountChanged`,
    );
    expect(await textOf(`${path}/disable`)).toContain('cannot sign in any more');
    expect((await admin.post(`${path}/disable`, {})).headers.get('location')).toContain('accountDisabled');
    expect(await textOf(path)).toContain('Disabled');
    expect((await admin.post(`${path}/enable`, {})).headers.get('location')).toContain('accountEnabled');
    expect((await admin.post(`${path}/delete`, {})).headers.get('location')).toContain('accountDeleted');
    expect((await admin.get(path)).status).toBe(404);
  });

  it('say why the name of an existing one cannot be taken, and keep it', async () => {
    await invite('ben', 'user');
    const { status, html } = await invite('ben', 'user');
    expect(status).toBe(409);
    expect(html).toContain('already exists');
    expect(html).toContain('value="ben"');
  });
});

describe('the own settings in the console', () => {
  it('choose the language and the colours of all pages', async () => {
    const saved = await operator.post(`${here}/you`, { language: 'fr', colors: 'dark' });
    const cookie = saved.headers.getSetCookie()[0]?.split(';', 1)[0] ?? '';
    const html = await (await operator.get('/console', { Cookie: cookie })).text();
    expect(html).toContain('<html lang="fr" dir="ltr" data-colors="dark">');
  });

  it('refuse a wrong current password, and show neither password again', async () => {
    const response = await operator.post(`${here}/you/password`, {
      current: 'not the password',
      password: 'a new long password',
    });
    expect(response.status).toBe(422);
    expect(await response.text()).not.toMatch(/not the password|a new long password/);
  });

  it.each(['en', 'fr', 'ar'])('have all their words in %s', async (language) => {
    for (const path of ['', '/change', '/logo', '/accounts', '/accounts/new', '/you']) {
      const html = await (await admin.get(here + path, { 'Accept-Language': language })).text();
      expect(html, path).not.toMatch(/>(settings|accounts|own)\.[a-zA-Z.]+</);
    }
  });
});
