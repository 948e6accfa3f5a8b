import { Parser } from 'htmlparser2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sql } from '#lib/db/sql.ts';
import { type FormsService, startForms } from '../support/instances/forms-service.ts';
import { makeModel, sampleContent } from '../support/samples/forms-models.ts';

let forms: FormsService;
beforeAll(async () => {
  forms = await startForms();
});
afterAll(() => forms.stop());

const html = `<img src=x onerror="alert(1)"><script>alert(2)</script>"'&<b>bold</b>`;

/** Every text field of §13, each of them hostile. */
const hostile: Record<string, object> = {
  information: {
    title: html,
    header: html,
    footer: html,
    jurisdiction: html,
    scope: html,
    customPrivacyPolicyText: html,
    dataController: { company: html, info: html, address: html, email: html, phoneNumber: '<b>1</b>' },
    privacyPolicyUrl: 'https://example.org/?q="><script>alert(3)</script>',
    jurisdictionVisible: true,
    dataControllerVisible: true,
    scopeVisible: true,
  },
  processing: {
    title: html,
    data: html,
    usage: html,
    retention: { label: html, fullText: html },
    thirdParties: [{ name: html, value: html }],
    dataController: { company: html },
  },
  preference: { label: html, description: html, options: [html, `${html}2`], valueType: 'RADIO_BUTTONS' },
  conditions: { title: html, body: html, acceptLabel: html.slice(0, 100), rejectLabel: html.slice(0, 100) },
  email: {
    sender: html,
    subject: html,
    title: html,
    body: html,
    buttonLabel: html,
    footer: html,
    signature: html,
  },
  theme: { name: html, logoAltText: html },
};

/** What must not be in a page. */
function elementsOf(page: string) {
  const found = { images: 0, inlineScripts: 0, handlers: 0 };
  const parser = new Parser({
    onopentag(name, attributes) {
      if (name === 'img') found.images += 1;
      if (name === 'script' && !attributes.src?.startsWith('/assets/')) found.inlineScripts += 1;
      if (Object.keys(attributes).some((attribute) => attribute.startsWith('on'))) found.handlers += 1;
    },
  });
  parser.end(page);
  return found;
}

async function send(type: string, body: string | Uint8Array, path = '') {
  const { id } = await makeModel(forms, { type, name: html, description: html });
  return forms.send(`/models/${id}/versions${path}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: body as string,
  });
}

describe('HTML in every text field', () => {
  it.each(Object.entries(hostile))(
    'of %s is shown as text, rich text is sanitised',
    async (type, content) => {
      const { id } = await makeModel(forms, { type, name: html });
      const json = { defaultLanguage: 'en', data: { en: content } };
      const draft = await (await forms.send(`/models/${id}/versions`, { method: 'POST', json })).json();
      const stored = JSON.stringify(draft.data);
      for (const field of ['header', 'footer', 'body', 'signature'])
        if (draft.data.en?.[field]) expect(draft.data.en[field]).not.toMatch(/<script|<img|onerror/);
      expect(stored).not.toContain('__proto__');
      const preview = await forms.send(`/models/${id}/versions/${draft.id}/preview`, { method: 'POST' });
      expect(preview.status).toBe(200);
      expect(elementsOf(await preview.text())).toEqual({ images: 0, inlineScripts: 0, handlers: 0 });
      expect(preview.headers.get('content-security-policy')).toContain("script-src 'self'");
    },
  );

  it('of a layout is stored as text', async () => {
    const { id } = await makeModel(forms, { type: 'layout' });
    const en = { elements: ['a.b'], submitText: html, acceptAllText: html, cancelText: html };
    const json = { defaultLanguage: 'en', data: { en } };
    const draft = await (await forms.send(`/models/${id}/versions`, { method: 'POST', json })).json();
    expect(draft.data.en?.submitText).toBe(html);
  });
});

describe('a malformed body', () => {
  const content = (title: string) => `{"defaultLanguage":"en","data":{"en":{"title":${title}}}}`;
  it.each<[string, string | Uint8Array]>([
    ['a lone surrogate', content('"\\ud800"')],
    ['a NUL character', content('"a\\u0000b"')],
    ['a NUL in a name', '{"defaultLanguage":"en","data":{"e\\u0000n":{"title":"x"}}}'],
    ['a member named __proto__', '{"defaultLanguage":"en","data":{"__proto__":{"title":"x"}}}'],
    ['a language named constructor', '{"defaultLanguage":"en","data":{"constructor":{"title":"x"}}}'],
    ['too many levels', content(`${'['.repeat(40)}${']'.repeat(40)}`)],
    ['a truncated text', content('"x"').slice(0, -3)],
    ['invalid UTF-8', Buffer.from(content('"caf\xe9"'), 'latin1')],
    ['a list for the content', '{"defaultLanguage":"en","data":[]}'],
    ['a number for the language', '{"defaultLanguage":7,"data":{}}'],
    ['no content', ''],
  ])('with %s is a 400 and stores nothing', async (_what, body) => {
    const before = await forms.db.query(sql`SELECT 1 FROM model_versions`);
    const response = await send('information', body);
    expect(response.status).toBe(400);
    expect(await forms.db.query(sql`SELECT 1 FROM model_versions`)).toHaveLength(before.length);
  });

  it('that is too large is a 413', async () => {
    expect((await send('information', content(`"${'x'.repeat(1_048_577)}"`))).status).toBe(413);
  });

  it('with another media type is a 415', async () => {
    const { id } = await makeModel(forms, { type: 'email' });
    const headers = { 'Content-Type': 'text/xml' };
    const response = await forms.send(`/models/${id}/versions`, { method: 'POST', headers, body: '<x/>' });
    expect(response.status).toBe(415);
  });
});

it('accepts a language named like a method of Object, and previews only existing languages', async () => {
  const { id } = await makeModel(forms, { type: 'information' });
  const json = { defaultLanguage: 'toString', data: { toString: { title: 'x' } } };
  const draft = await (await forms.send(`/models/${id}/versions`, { method: 'POST', json })).json();
  expect(draft.data).toEqual({ toString: { title: 'x' } });
  for (const language of ['valueOf', 'constructor', '__proto__', 'fr', 'x y']) {
    const path = `/models/${id}/versions/${draft.id}/preview`;
    expect((await forms.send(path, { method: 'POST', json: { language } })).status).toBe(422);
  }
});

describe('a theme style sheet', () => {
  it.each([
    'a { background: url(https://evil.example/x.png) }',
    'a { background: URL("x") }',
    'a { background: u\\72l(x) }',
    'a { --x: url(x) }',
    '@media screen { a { background-image: url(x) } }',
    'a { color: red } </style><script>alert(1)</script>',
    '<!-- a { color: red } -->',
    '@import "https://evil.example/x.css";',
    '@font-face { font-family: x; src: url(x) }',
    'a { background: image-set("x" 1x) }',
    'a { width: expression(alert(1)) }',
    'a { -moz-binding: none }',
    'a { behavior: none }',
    'button { display: none }',
    'button { position: absolute; left: -99em }',
    'a { color: red }} b { color: blue }',
    'a { b { color: red } }',
    '@keyframes x { from { color: red } }',
  ])('with %s is a 422', async (css) => {
    const json = { defaultLanguage: 'en', data: { en: { ...sampleContent.theme, css } } };
    const response = await send('theme', JSON.stringify(json));
    expect(response.status).toBe(422);
    const { errors } = await response.json();
    expect(errors[0]?.pointer).toBe('/data/en/css');
  });
});
