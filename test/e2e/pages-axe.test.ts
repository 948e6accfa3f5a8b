import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openSample } from '../support/contract/open-sample.ts';
import { auditPage, auditPlainPage, looksIn } from '../support/pages/audit-page.ts';
import { assets, renderer } from '../support/pages/page-renderer.ts';
import { type PageServer, startPageServer } from '../support/pages/page-server.ts';
import { renderExport } from '../support/pages/sample-export.ts';
import { exportPages, samplePages } from '../support/pages/sample-pages.ts';
import { useBrowser } from '../support/pages/use-browser.ts';
import { type SampleLanguage, sampleLanguages } from '../support/samples/sample-content.ts';

const browser = useBrowser();
let server: PageServer;

beforeAll(async () => {
  server = await startPageServer({ renderer, assets }, (path) => {
    const [, , name = '', language = 'en'] = path.split('/');
    return samplePages(language as SampleLanguage)[name] ?? null;
  });
});

afterAll(async () => {
  await server?.close();
});

/**
 * Pages for developers are in English whoever reads them; that of the contract, which is long, is looked at
 * in subject-pages.test.ts, and an export as a whole below.
 */
const englishOnly = ['problem'];
const elsewhere = ['api', 'export', 'export-part'];

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
    expect(await auditPage(page, looksIn(language))).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it.each(names.filter((name) => name.startsWith('confirm')))(
    '%s has no fault that axe finds without JavaScript',
    async (name) => {
      const context = await browser.newContext({ javaScriptEnabled: false });
      const plain = await context.newPage();
      await openSample(plain, server.origin, name, language);
      expect(await auditPlainPage(plain, looksIn(language))).toEqual([]);
      await context.close();
    },
  );

  it('an export has no fault that axe finds, and is read without a connection', async () => {
    const context = await browser.newContext({ offline: true });
    const saved = await context.newPage();
    const requests: string[] = [];
    saved.on('request', (request) => requests.push(request.url()));
    await saved.setContent(renderExport(renderer, exportPages(language)));
    expect(await saved.evaluate('document.documentElement.dir')).toBe(language === 'ar' ? 'rtl' : 'ltr');
    const borders = await saved.evaluate(`getComputedStyle(document.querySelector('table')).borderCollapse`);
    expect(borders).toBe('collapse');
    expect(await auditPage(saved, looksIn(language))).toEqual([]);
    expect(requests).toEqual([]);
    await context.close();
  });
});
