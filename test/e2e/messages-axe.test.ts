import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { auditPage, mailLooks } from '../support/pages/audit-page.ts';
import { renderer } from '../support/pages/page-renderer.ts';
import { useBrowser } from '../support/pages/use-browser.ts';
import { sampleLanguages } from '../support/samples/sample-content.ts';
import { messageKinds, sampleMail, sampleMessage } from '../support/samples/sample-messages.ts';

const browser = useBrowser();
let page: Page;

beforeAll(async () => {
  page = await browser.newPage();
});

/** Shows a mail. @returns what it asks the network for. */
async function show(html: string | null): Promise<string[]> {
  const requests: string[] = [];
  page.removeAllListeners();
  page.on('request', (request) => requests.push(request.url()));
  await page.setContent(html ?? '');
  return requests;
}

describe.each(sampleLanguages)('a mail in %s', (language) => {
  it.each(messageKinds)(
    'of kind %s is readable light and dark, loads nothing, and scrolls only down',
    async (kind) => {
      const { html } = renderer.renderMessage(sampleMessage(kind, language), {
        language,
        mail: null,
        brand: null,
      });
      expect(await show(html)).toEqual([]);
      expect(await auditPage(page, mailLooks)).toEqual([]);
    },
  );
});

describe('a mail', () => {
  const { html } = renderer.renderMessage(
    sampleMessage('code', 'en', { link: 'https://consent.riverside.example/consents/x?t=abc' }),
    { language: 'en', mail: sampleMail, brand: null },
  );

  it('from a model is readable light and dark, and loads nothing', async () => {
    expect(await show(html)).toEqual([]);
    expect(await auditPage(page, mailLooks)).toEqual([]);
  });

  it('is readable in a client that drops style sheets and prefers dark', async () => {
    await show((html ?? '').replace(/<style>.*?<\/style>/s, ''));
    expect(await auditPage(page, mailLooks)).toEqual([]);
  });

  it('is at most 600 pixels wide', async () => {
    await show(html);
    await page.setViewportSize({ width: 1280, height: 800 });
    expect((await page.locator('.card').boundingBox())?.width).toBeLessThanOrEqual(600);
  });
});
