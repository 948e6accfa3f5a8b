import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { launchChromium } from '../support/chromium.ts';
import { assets, renderer } from '../support/page-renderer.ts';
import { type PageServer, startPageServer } from '../support/page-server.ts';
import { type SampleLanguage, sampleLanguages } from '../support/sample-content.ts';
import { samplePages } from '../support/sample-pages.ts';

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');
interface Axe {
  run(
    options: object,
  ): Promise<{ violations: { id: string; nodes: { html: string; failureSummary: string }[] }[] }>;
}

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

/** Pages for developers are in English whoever reads them. */
const englishOnly = ['problem', 'api'];
const schemes = ['light', 'dark'] as const;
const combinations = sampleLanguages.flatMap((language) => schemes.map((scheme) => ({ language, scheme })));

describe.each(combinations)('in $language, $scheme', ({ language, scheme }) => {
  const names = Object.keys(samplePages(language)).filter(
    (name) => language === 'en' || !englishOnly.includes(name),
  );
  let page: Page;

  beforeAll(async () => {
    page = await browser.newPage({ colorScheme: scheme, viewport: { width: 360, height: 740 } });
  });
  afterAll(() => page?.close());

  it.each(names)('%s has no fault that axe finds, nor one against its own policy', async (name) => {
    const complaints: string[] = [];
    page.removeAllListeners();
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    await page.goto(`${server.origin}/sample/${name}/${language}`);
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() =>
      (globalThis as unknown as { axe: Axe }).axe.run({ preload: false, resultTypes: ['violations'] }),
    );
    const overflow = await page.evaluate(
      'document.documentElement.scrollWidth - document.documentElement.clientWidth',
    );
    expect(
      violations.map(({ id, nodes }) => [
        id,
        ...nodes.map(({ html, failureSummary }) => `${html} ${failureSummary}`),
      ]),
    ).toEqual([]);
    expect(overflow, 'sideways scrolling at 360 px').toBe(0);
    expect(complaints).toEqual([]);
  });
});
