import { get, type IncomingMessage } from 'node:http';
import { deflateSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type FormsService, formsBaseUrl, startForms } from '../support/instances/forms-service.ts';
import { makeActive, makeDraft, makeModel, sampleContent } from '../support/samples/forms-models.ts';

let forms: FormsService;
let plain: FormsService;
beforeAll(async () => {
  [forms, plain] = await Promise.all([startForms({ demo: true }), startForms()]);
});
afterAll(() => Promise.all([forms.stop(), plain.stop()]));

const visit = (path: string, headers = {}) => forms.send(path, { as: 'nobody', headers });
const browser = { Accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8' };

describe('the first page', () => {
  it('embeds a form in demo mode, in the reader’s language', async () => {
    const page = await visit('/', { 'Accept-Language': 'fr-CA' });
    expect(page.status).toBe(200);
    const html = await page.text();
    expect(html).toContain('<html lang="fr"');
    expect(html).toContain('/consents/demo');
    expect(page.headers.get('vary')).toContain('Accept-Language');
  });

  it('has the instance’s name outside demo mode, and no sample site', async () => {
    const html = await (await plain.send('/', { as: 'nobody' })).text();
    expect(html).toContain('Accord');
    expect(html).not.toContain('/consents/demo');
    expect((await plain.send('/demo', { as: 'nobody' })).status).toBe(404);
    expect((await visit('/demo')).status).toBe(200);
  });
});

describe('the contract', () => {
  it('is served with this instance as its server', async () => {
    const json = await (await visit('/openapi.json')).json();
    expect(json.servers[0]?.url).toBe(formsBaseUrl);
    expect(parse(await (await visit('/openapi.yaml')).text())).toEqual(json);
  });

  it('is shown as a page', async () => {
    const page = await visit('/docs', browser);
    expect(await page.text()).toContain('/consents');
    expect(page.headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  });

  it('has a page for every problem code and answers 404 for others', async () => {
    for (const code of ['stale-serial', 'unavailable'])
      expect((await visit(`/docs/problems/${code}`)).status).toBe(200);
    for (const code of ['nope', 'constructor', 'toString'])
      expect((await visit(`/docs/problems/${code}`)).status).toBe(404);
  });

  it('describes the configuration of the instance', async () => {
    expect(await (await visit('/system/config')).json()).toEqual({
      version: expect.stringMatching(/^\d+\.\d+\.\d+$/),
      name: 'Accord',
      baseUrl: formsBaseUrl,
      timeZone: 'UTC',
      language: 'en',
      languages: expect.arrayContaining(['en', 'fr', 'ar']),
      roles: expect.arrayContaining(['admin', 'operator', 'key', 'user']),
      issuer: { url: `${formsBaseUrl}/auth`, builtIn: true },
      features: ['pdf', 'accounts', 'audit', 'campaigns', 'choices'],
    });
  });
});

describe('errors', () => {
  it('are pages for browsers and problem documents for other clients', async () => {
    const page = await visit('/models', { ...browser, 'Accept-Language': 'ar' });
    expect(page.status).toBe(401);
    expect(await page.text()).toContain('dir="rtl"');
    const document = await visit('/no/such/path');
    expect(document.headers.get('content-type')).toContain('application/problem+json');
    expect((await forms.send('/models', { method: 'PATCH' })).status).toBe(405);
    expect((await forms.send('/models', { headers: { Accept: 'image/png' } })).status).toBe(406);
  });
});

describe('assets', () => {
  it('are cached for a year under the hashed name and revalidated under the plain name', async () => {
    const html = await (await visit('/')).text();
    const style = /\/assets\/accord\.\w+\.css/.exec(html)?.[0] ?? '';
    const file = await visit(style);
    expect(file.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    const embed = await visit('/assets/embed.js', { 'Accept-Encoding': 'gzip' });
    expect(embed.headers.get('content-type')).toBe('text/javascript; charset=utf-8');
    expect(embed.headers.get('cross-origin-resource-policy')).toBe('cross-origin');
    const again = await getRaw('/assets/embed.js', {
      'Accept-Encoding': 'gzip',
      'If-None-Match': embed.headers.get('etag') ?? '',
    });
    expect(again.statusCode).toBe(304);
  });

  it.each(['/assets/none.js', '/assets/..%2f..%2fpackage.json', '/assets/constructor'])(
    'are not found: %s',
    async (path) => {
      expect((await visit(path)).status).toBe(404);
    },
  );
});

describe('the style sheet of a theme', () => {
  it('is scoped under the root and immutable', async () => {
    const style = await visit('/assets/themes/theme.001/1.0.css');
    expect(style.headers.get('cache-control')).toContain('immutable');
    expect(style.headers.get('content-type')).toBe('text/css; charset=utf-8');
    const css = await style.text();
    expect(css).toMatch(/^\.accord\{/);
    expect(css).toContain('.accord h1{');
  });

  it.each(['theme.001/2.0.css', 'theme.001/1.0', 'theme.001/x.css', 'none/1.0.css', 'layout.001/1.0.css'])(
    'is not found: %s',
    async (path) => {
      expect((await visit(`/assets/themes/${path}`)).status).toBe(404);
    },
  );
});

describe('a logo', () => {
  const put = (id: string, type: string, body: Buffer) =>
    forms.send(`/models/${id}/logo`, {
      method: 'PUT',
      headers: { 'Content-Type': type },
      body: body as never,
    });
  const png = pngOf(40, 20);

  it('is uploaded, used in the theme’s content, served from our own origin and displayed', async () => {
    const { id } = await makeModel(forms, { type: 'theme', key: 'theme.logo' });
    const uploaded = await put(id, 'image/png', png);
    expect(uploaded.status).toBe(200);
    const { logoPath } = await uploaded.json();
    const image = await visit(logoPath);
    expect(image.headers.get('content-type')).toBe('image/png');
    expect(image.headers.get('x-content-type-options')).toBe('nosniff');
    expect(image.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(Buffer.from(await image.arrayBuffer())).toEqual(png);
    const en = { ...sampleContent.theme, logoPath, logoAltText: 'The house', css: 'h1 { color: #123456 }' };
    const draft = await makeDraft(forms, id, { en });
    const preview = await forms.send(`/models/${id}/versions/${draft}/preview`, { method: 'POST' });
    const html = await preview.text();
    expect(html).toContain(logoPath);
    const style = /\/assets\/themes\/theme\.logo\/[^"]+/.exec(html)?.[0] ?? '';
    const css = await visit(style);
    expect(css.headers.get('cache-control')).toBe('no-cache');
    expect(await css.text()).toContain('#123456');
  });

  it('is detected by its bytes, not by the declared media type', async () => {
    const { id } = await makeModel(forms, { type: 'theme' });
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
    expect((await put(id, 'image/png', svg)).status).toBe(422);
    expect((await put(id, 'image/svg+xml', svg)).status).toBe(415);
    expect((await put(id, 'image/png', Buffer.alloc(0))).status).toBe(422);
    expect((await put(id, 'image/png', pngOf(5_000, 1))).status).toBe(422);
    expect((await put(id, 'image/png', Buffer.concat([png, Buffer.alloc(131_072)]))).status).toBe(413);
    const { logoPath } = await (await put(id, 'image/jpeg', png)).json();
    expect((await visit(logoPath)).headers.get('content-type')).toBe('image/png');
  });

  it('can be uploaded to a theme only', async () => {
    const { id } = await makeModel(forms, { type: 'email' });
    expect((await put(id, 'image/png', png)).status).toBe(422);
    expect((await visit('/assets/logos/nope')).status).toBe(404);
    expect((await visit('/assets/logos/00000000-0000-7000-8000-000000000000')).status).toBe(404);
  });
});

describe('a preview', () => {
  const preview = async (key: string, json: object = {}) => {
    const { id, versions } = await (await forms.send(`/models/serials/${key}`)).json();
    return forms.send(`/models/${id}/versions/${versions[0]?.id}/preview`, {
      method: 'POST',
      json,
      as: 'operator',
      headers: { Accept: 'application/problem+json, text/html' },
    });
  };

  it.each([
    ['information.001', 'Your data, your choice'],
    ['processing.001', 'The programme letter'],
    ['preference.002', 'What do you like to see?'],
    ['conditions.001', 'Conditions of the season card'],
    ['email.001', 'Your choices at Riverside Theatre'],
    ['theme.001', '/assets/themes/theme.001/1.0.css'],
    ['layout.001', 'How often would you like to hear from us?'],
  ])('of %s shows it', async (key, text) => {
    const page = await preview(key);
    expect(page.status).toBe(200);
    expect(await page.text()).toContain(text);
  });

  it('is in the requested language', async () => {
    const html = await (await preview('layout.001', { language: 'ar' })).text();
    expect(html).toContain('<html lang="ar" dir="rtl"');
    expect(html).toContain('حفظ اختياراتي');
    expect((await preview('layout.001', { language: 'de' })).status).toBe(422);
  });

  it('of unsaved content shows and checks that content', async () => {
    const data = { title: 'Unsaved', data: 'd', usage: 'u', retention: { label: 'r' } };
    expect(await (await preview('processing.001', { data })).text()).toContain('Unsaved');
    const wrong = { data: { ...data, title: 7 }, orientation: 'ROUND' };
    const refused = await preview('processing.001', wrong);
    expect(refused.status).toBe(422);
    const { errors } = await refused.json();
    expect(errors.map(({ pointer }) => pointer)).toEqual(['/data/title', '/orientation']);
  });

  it('of unsaved content shows "…" for what is not written yet', async () => {
    const html = await (await preview('processing.001', { data: { usage: 'We write to you.' } })).text();
    expect(html).toContain('We write to you.');
    expect(html).toContain('…');
  });

  it('of a layout with inactive entries reports them', async () => {
    const { key } = await makeModel(forms, { type: 'processing' });
    const layout = await makeActive(forms, 'layout', { elements: [key] });
    const refused = await preview(layout.key);
    expect(refused.status).toBe(422);
    const { errors } = (await refused.json()) as { errors: { pointer: string }[] };
    expect(errors.map(({ pointer }) => pointer)).toEqual(['/data/en/elements/0']);
  });
});

/** Without `fetch`, which asks for a fresh copy whenever a condition is set. */
function getRaw(path: string, headers: Record<string, string>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(`${forms.baseUrl}${path}`, { headers, agent: false }, (response) => resolve(response.resume())).on(
      'error',
      reject,
    );
  });
}

/** A PNG of one colour. */
function pngOf(width: number, height: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const chunk = (type: string, data: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(data.length);
    return Buffer.concat([length, Buffer.from(type, 'latin1'), data, Buffer.alloc(4)]);
  };
  const start = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  const pixels = deflateSync(Buffer.alloc((width + 1) * height));
  return Buffer.concat([start, chunk('IHDR', header), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
}
