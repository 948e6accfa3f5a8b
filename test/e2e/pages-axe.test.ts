import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { auditPage } from '../support/audit-page.ts';
import { launchChromium } from '../support/chromium.ts';
import { openSample } from '../support/open-sample.ts';
import { assets, renderer } from '../support/page-renderer.ts';
import { type PageServer, startPageServer } from '../support/page-server.ts';
import { type SampleLanguage, sampleLanguages } from '../support/sample-content.ts';
import { samplePages } from '../support/sample-pages.ts';

let browser: Browser;
let server: PageServer;

beforeAll(async () => {
  browser = await launchChromium();
  server = await startPageServer({ renderer, assets }, (path) => {
    const [, , name = '', language = 'en'] = path.split('/');
    return samplePages(language as SampleLanguage)[name] ?? null;
  });
});

afterAll(async () => {
  await browser?.close();
  await server?.close();
});

/** Pages for developers are in English whoever reads them; that of the contract, which is long, is looked at in subject-pages.test.ts. */
const englishOnly = ['problem'];
const elsewhere = ['api'];

describe.each(sampleLanguages)('in %s', (language) => {
  const names = Object.keys(samplePages(language)).filter(
    (name) => !elsewhere.includes(name) && (language === 'en' || !englishOnly.includes(name)),
  );
  let page: Page;

  beforeAll(async () => {
    page = await browser.newPage();
  });
  afterAll(() => page?.close());

  it.each(names)('%s has no fault that axe finds, nor one against its own policy', async (name) => {
    const complaints: string[] = [];
    page.removeAllListeners();
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await openSample(page, server.origin, name, language);
    expect(await auditPage(page)).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
