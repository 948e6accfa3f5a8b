import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import * as client from 'openid-client';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeAt } from '../../services/auth/domain/second-factor.ts';
import { callerWithToken, choosePassword, goodPassword } from '../support/instances/account-callers.ts';
import { type AuthUnderTest, startAuth } from '../support/instances/auth-service.ts';
import { useBrowser } from '../support/pages/use-browser.ts';

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
const runAxe =
  "axe.run({ preload: false, resultTypes: ['violations'] }).then(({ violations }) => violations.map(({ id }) => id))";

let under: AuthUnderTest;
const browser = useBrowser();
let application: Server;
let redirectUri: string;
beforeAll(async () => {
  under = await startAuth();
  application = createServer((_request, response) => void response.end('the application'));
  await new Promise<void>((done) => application.listen(0, '127.0.0.1', done));
  redirectUri = `http://127.0.0.1:${(application.address() as AddressInfo).port}/callback`;
});
afterAll(async () => {
  application?.close();
  await under?.stop();
});

/** Opens the sign-in page as an application does, and collects what the browser complains of. */
async function open(
  options: Parameters<Browser['newPage']>[0] = {},
  asked: Record<string, string> = {},
): Promise<{ page: Page; complaints: string[]; finish(): Promise<unknown> }> {
  const config = await client.discovery(new URL(under.authUrl), 'accord', undefined, client.None(), {
    execute: [client.allowInsecureRequests],
  });
  const verifier = client.randomPKCECodeVerifier();
  const url = client.buildAuthorizationUrl(config, {
    redirect_uri: redirectUri,
    scope: 'openid',
    code_challenge: await client.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    ...asked,
  });
  const page = await browser.newPage(options);
  const complaints: string[] = [];
  page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
  await page.goto(url.href);
  const finish = async () =>
    (
      await client.authorizationCodeGrant(config, new URL(page.url()), { pkceCodeVerifier: verifier })
    ).claims();
  return { page, complaints, finish };
}

describe.each([{ javaScriptEnabled: true }, { javaScriptEnabled: false }])(
  'in a browser ($javaScriptEnabled)',
  (options) => {
    it('a person signs in, after a mistake, and is back at the application', async () => {
      const { page, complaints, finish } = await open(options);
      await page.getByLabel('Username').fill('operator');
      await page.getByLabel('Password').fill('mistaken');
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('alert').waitFor();
      expect(await page.getByLabel('Username').inputValue()).toBe('operator');
      expect(await page.getByLabel('Password').inputValue()).toBe('');
      await page.getByLabel('Password').fill('demo');
      await page.keyboard.press('Enter');
      await page.waitForURL(`${redirectUri}**`);
      expect(await finish()).toMatchObject({ preferred_username: 'operator' });
      expect(complaints.filter((text) => !text.includes('422'))).toEqual([]);
      await page.close();
    });
  },
);

it('a person changes their mind, and is back at the application without being asked for anything', async () => {
  const { page } = await open();
  await page.getByRole('button', { name: 'Cancel' }).click();
  await page.waitForURL(`${redirectUri}**`);
  expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied');
  await page.close();
});

it('an invited person chooses a password, after a mistake, and signs in with it', async () => {
  const admin = callerWithToken(under, await under.tokenOf('admin'));
  const { link } = await admin.invite('jane');
  const { page, finish } = await open();
  const signInPage = page.url();
  await page.goto(link);
  expect(await page.getByLabel('Username').isEditable()).toBe(false);
  const fill = async (password: string, repeated: string) => {
    await page.getByLabel('Password, at least').fill(password);
    await page.getByLabel('Repeat the password').fill(repeated);
    await page.getByRole('button', { name: 'Save the password' }).click();
  };
  await fill(goodPassword, 'another long phrase');
  await page.getByRole('alert').waitFor();
  await fill(goodPassword, goodPassword);
  await page.getByRole('heading', { name: 'Password saved' }).waitFor();
  await page.goto(signInPage);
  await page.getByLabel('Username').fill('jane');
  await page.getByLabel('Password').fill(goodPassword);
  await page.keyboard.press('Enter');
  await page.waitForURL(`${redirectUri}**`);
  expect(await finish()).toMatchObject({ preferred_username: 'jane' });
  await page.close();
});

describe.each(['en', 'fr', 'ar'])('the pages in %s', (locale) => {
  it.each(['light', 'dark'] as const)('are read with ease by everyone, %s', async (colorScheme) => {
    const { page, complaints } = await open({ locale, colorScheme, viewport: { width: 320, height: 700 } });
    const admin = callerWithToken(under, await under.tokenOf('admin'));
    const { link } = await admin.invite(`jane ${locale} ${colorScheme}`);
    for (const path of [
      page.url(),
      link,
      `${under.authUrl}/setup?token=none`,
      `${under.authUrl}/authorize?client_id=none`,
    ]) {
      await page.goto(path);
      await page.evaluate(axe);
      expect(await page.evaluate(runAxe)).toEqual([]);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
    }
    expect(complaints.filter((text) => !/\b4\d\d\b/.test(text))).toEqual([]);
    await page.close();
  });

  it.each(['light', 'dark'] as const)('lead through the second factor, %s', async (colorScheme) => {
    const admin = callerWithToken(under, await under.tokenOf('admin'));
    const name = `anna ${locale} ${colorScheme}`;
    await choosePassword((await admin.invite(name)).link);
    const options = { locale, colorScheme, viewport: { width: 320, height: 900 } };
    let secret = '';
    for (const code of [0, 1]) {
      const { page, complaints, finish } = await open(options, { acr_values: 'second-factor' });
      await page.fill('#username', name);
      await page.fill('#password', goodPassword);
      await page.keyboard.press('Enter');
      const look = async () => {
        await page.evaluate(axe);
        expect(await page.evaluate(runAxe)).toEqual([]);
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
      };
      await page.waitForSelector('#code');
      await look();
      if (code === 0) secret = (await page.textContent('main > p > code'))?.replaceAll(' ', '') ?? '';
      await page.fill('#code', codeAt(secret, Math.floor(Date.now() / 30_000) + code));
      await page.keyboard.press('Enter');
      if (code === 0) {
        await page.waitForSelector('.codes');
        await look();
        await page.click('button.primary');
      }
      await page.waitForURL(`${redirectUri}**`);
      expect(await finish()).toMatchObject({ preferred_username: name });
      expect(complaints).toEqual([]);
      await page.close();
    }
  });
});
