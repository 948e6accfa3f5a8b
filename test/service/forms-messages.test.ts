import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FormsService, formsBaseUrl, startForms } from '../support/instances/forms-service.ts';
import { parsePage } from '../support/pages/parse-page.ts';
import { makeActive, makeDraft, makeModel, setStatus } from '../support/samples/forms-models.ts';
import { sampleMessage } from '../support/samples/sample-messages.ts';

let forms: FormsService;
beforeAll(async () => {
  forms = await startForms();
});
afterAll(() => forms.stop());

/** One pixel. */
const png = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const asked = {
  information: { texts: { title: 'Your data', dataController: { company: 'Riverside Clinic' } } },
  layout: { info: 'information.001', elements: [] } as never,
};
const link = `${formsBaseUrl}/consents/x?t=abc`;
const notification = (changes: object) =>
  forms.operations.renderMessage({ ...sampleMessage('notification', 'en'), ...asked, link, ...changes });
const code = (changes: object = {}) =>
  forms.operations.renderMessage({ ...sampleMessage('code', 'en'), ...asked, ...changes });

describe('the text of a notification', () => {
  it('is that of the model with the key or the id', async () => {
    const { id, key } = await makeActive(forms, 'email', {
      subject: 'Thanks from {organisation}',
      body: '<p>Open <a href="{link}">it</a>, not <a href="{code}">that</a>.</p>',
    });
    for (const model of [key, id, id.toUpperCase()]) {
      const { subject, html } = await notification({ model });
      expect(subject).toBe('Thanks from Riverside Clinic');
      const links = parsePage(html ?? '').tagged('a');
      expect(links.map(({ attribs }) => attribs.href)).toEqual([link, link, link]);
    }
  });

  it('is in the best language of the model, else in its default language', async () => {
    const { id, key } = await makeModel(forms, { type: 'email' });
    const version = await makeDraft(forms, id, {
      fr: { subject: 'Merci', body: 'Bonjour' },
      ar: { subject: 'شكرًا', body: 'مرحبًا' },
    });
    await setStatus(forms, id, version, 'ACTIVE');
    const of = async (...languages: string[]) => {
      const { language, subject } = await notification({ model: key, languages });
      return [language, subject];
    };
    expect(await of('en', 'ar-EG')).toEqual(['ar', 'شكرًا']);
    expect(await of('en')).toEqual(['fr', 'Merci']);
  });

  it('is the built-in one without a model, and if the model is gone or no email', async () => {
    const { id } = await makeModel(forms, { type: 'email', key: 'only.draft' });
    await makeDraft(forms, id, { en: { subject: 'A draft', body: 'x' } });
    const { key: other } = await makeActive(forms, 'information', { title: 'No email' });
    const missing = '00000000-0000-7000-8000-000000000000';
    for (const model of [null, 'nothing.here', missing, 'only.draft', other])
      expect((await notification({ model })).subject).toBe('Your answers to Riverside Clinic');
  });

  it('links only to this instance', async () => {
    for (const wrong of ['https://evil.example/', 'javascript:alert(1)', `${formsBaseUrl}.evil.example/`])
      await expect(notification({ link: wrong })).rejects.toThrow('not a URL of this instance');
  });

  it('has the alternative text of the logo of the theme', async () => {
    const { id, key } = await makeModel(forms, { type: 'theme' });
    const image = await forms.send(`/models/${id}/logo`, {
      method: 'PUT',
      headers: { 'Content-Type': 'image/png' },
      body: png as never,
    });
    const { logoPath } = await image.json();
    const version = await makeDraft(forms, id, {
      en: { name: 'A theme', logoPath, logoAltText: 'Riverside, since 1971' },
    });
    await setStatus(forms, id, version, 'ACTIVE');
    for (const theme of [key, id])
      expect((await notification({ theme })).text).toMatch(/^Riverside, since 1971\n/);
    expect((await notification({ theme: 'nothing.here' })).text).toMatch(/^Riverside Clinic\n/);
  });
});

describe('a model with a reserved key', () => {
  it('replaces the built-in text from its activation to its removal', async () => {
    const before = await code();
    expect(before.subject).toBe('Your confirmation code for Riverside Clinic');
    const { id } = await makeActive(
      forms,
      'email',
      { subject: 'Your number', body: 'Type {code}.' },
      'message.code',
    );
    const mail = await code();
    expect(mail.subject).toBe('Your number');
    expect(mail.text).toContain('Type 042519.');
    expect((await code({ channel: 'sms' })).text).toMatch(/^Your number\nType 042519\.\n@\S+ #042519$/);
    expect((await notification({ model: null })).subject).toContain('Your answers to');
    expect((await forms.send(`/models/${id}`, { method: 'DELETE' })).status).toBe(204);
    expect((await code()).subject).toBe(before.subject);
  });
});

describe('the preview of an email', () => {
  it.each([
    ['message.code', '123456'],
    ['message.invitation', `${formsBaseUrl}/`],
    ['letter', `${formsBaseUrl}/`],
  ])('with the key %s shows the mail as it is sent, in a frame without scripts', async (key, shown) => {
    const { id, version } = await makeActive(
      forms,
      'email',
      { sender: 'Clinic <a@clinic.example>', subject: 'Hello {organisation}', body: '<p>One</p>' },
      key,
    );
    const mailFrom = `no-reply@${new URL(formsBaseUrl).hostname}`;
    await forms.operations.setMessageChannels({ channels: ['mail'] });
    const response = await forms.send(`/models/${id}/versions/${version}/preview`, { method: 'POST' });
    expect(response.headers.get('content-security-policy')).toContain("style-src 'self' 'unsafe-inline'");
    const page = parsePage(await response.text());
    expect(page.text()).toContain(mailFrom);
    expect(page.text()).not.toContain('a@clinic.example');
    expect(page.text()).not.toContain('{organisation}');
    const [frame] = page.tagged('iframe');
    expect(frame?.attribs.sandbox).not.toContain('allow-scripts');
    expect(frame?.attribs.src).toBeUndefined();
    const mail = parsePage(frame?.attribs.srcdoc ?? '');
    expect(mail.text()).toContain(shown);
  });

  it('names no sender without mail', async () => {
    await forms.operations.setMessageChannels({ channels: [] });
    const { id, version } = await makeActive(forms, 'email', { subject: 'Hello', body: '<p>One</p>' });
    const response = await forms.send(`/models/${id}/versions/${version}/preview`, { method: 'POST' });
    expect(parsePage(await response.text()).tagged('dl')).toEqual([]);
  });

  it('is the only one that allows inline styles', async () => {
    const { id, version } = await makeActive(forms, 'information', { title: 'Who asks' });
    const response = await forms.send(`/models/${id}/versions/${version}/preview`, { method: 'POST' });
    expect(response.headers.get('content-security-policy')).not.toContain('unsafe-inline');
  });
});
