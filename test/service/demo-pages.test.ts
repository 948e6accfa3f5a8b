import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '#lib/db/embedded/postmaster.ts';
import { readInstanceSettings } from '../../services/settings.ts';
import { welcomeLines } from '../../services/start-instance.ts';
import { startTestInstance, type TestInstance } from '../support/instances/instance.ts';

let instance: TestInstance;
afterEach(() => instance.stop());

const readPage = async (path: string) => (await instance.fetch(path)).text();

it('the first page of a demonstration leads to the console before anything else', async () => {
  instance = await startTestInstance();
  const page = await readPage('/');
  expect(page).toMatch(/<\/h1><ul class="links"><li><a href="\/console">The console: [^<]+<\/a><\/li><\/ul>/);
  expect(page.match(/href="\/console"/g)).toHaveLength(1);
});

describe('the first page without a demonstration', () => {
  it.each([
    ['en', 'Sign in to the console'],
    ['fr', 'Se connecter à la console'],
    ['ar', 'تسجيل الدخول إلى لوحة التحكم'],
  ])('leads staff to the console (%s)', async (language, words) => {
    instance = await startTestInstance({ DEMO: 'false' });
    const page = await instance.fetch('/', { headers: { 'Accept-Language': language, Accept: 'text/html' } });
    expect(await page.text()).toContain(`<a href="/console">${words}</a>`);
  });

  it('promises no console where there is none', async () => {
    instance = await startTestInstance({ DEMO: 'false', CONSOLE: 'false' });
    expect(await readPage('/')).not.toContain('/console');
  });
});

describe('the first page of a demonstration', () => {
  it('works wherever the built-in issuer is', async () => {
    const port = String(await freePort());
    const baseUrl = `http://localhost:${port}`;
    const AUTH_URL = `${baseUrl}/identity`;
    instance = await startTestInstance({ PORT: port, BASE_URL: baseUrl, AUTH_URL });
    const page = await readPage('/');
    expect(page).toContain(`curl -s ${AUTH_URL} `);
    expect(page).toContain(`data-src="${baseUrl}/consents/`);
    expect(await readPage('/demo')).toContain(`${baseUrl}/consents/`);
  });

  it('shows its form and its models beside an outside issuer, and promises no accounts', async () => {
    const OIDC_ISSUER = 'http://127.0.0.1:9';
    instance = await startTestInstance({ OIDC_ISSUER });
    const page = await readPage('/');
    expect(page).toContain('/consents/');
    expect(page).not.toMatch(/password=demo|<code>operator</);
    const facts = { name: 'Accord', authUrl: OIDC_ISSUER, dataDir: '/var/lib/accord' };
    const said = welcomeLines(readInstanceSettings({ OIDC_ISSUER }), instance.url, facts);
    expect(said).toContain(facts.dataDir);
    expect(said).not.toContain('demo accounts');
    expect(said).not.toContain('curl');
  });

  it('has no line that needs the password grant when that is switched off', async () => {
    instance = await startTestInstance({ PASSWORD_GRANT: 'false' });
    const page = await readPage('/');
    expect(page).toContain('<code>operator</code>');
    expect(page).not.toContain('password=demo');
    expect(page).toContain('/consents/');
  });
});
