import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { renderer } from '../support/pages/page-renderer.ts';
import { type SampleLanguage, sampleLanguages } from '../support/samples/sample-content.ts';
import { messageKinds, sampleMail, sampleMessage } from '../support/samples/sample-messages.ts';

/** The narrowest telephone in use, and a window in which a mail has its greatest width. */
const widths = [360, 700];

/** The HTML of mails by name: one of each kind, and one from a model, which is in English. */
function mailsIn(language: SampleLanguage): Record<string, string | null> {
  const style = { language, mail: null, brand: null };
  const link = 'https://consent.riverside.example/consents/x?t=abc';
  const mails = Object.fromEntries(
    messageKinds.map((kind) => [kind, renderer.renderMessage(sampleMessage(kind, language), style).html]),
  );
  if (language !== 'en') return mails;
  const message = sampleMessage('code', language, { link });
  return { ...mails, model: renderer.renderMessage(message, { ...style, mail: sampleMail }).html };
}

/** Takes every mail in each language, light and dark, narrow and wide. */
export async function photographMails({
  browser,
  folder,
  colorSchemes,
}: {
  browser: Browser;
  folder: string;
  colorSchemes: readonly ('light' | 'dark')[];
}): Promise<void> {
  const page = await browser.newPage();
  for (const language of sampleLanguages) {
    await mkdir(path.join(folder, language), { recursive: true });
    for (const [name, html] of Object.entries(mailsIn(language))) {
      await page.setContent(html ?? '');
      for (const colorScheme of colorSchemes) {
        await page.emulateMedia({ colorScheme });
        for (const width of widths) {
          await page.setViewportSize({ width, height: 740 });
          const file = path.join(folder, language, `mail-${name}-${colorScheme}-${width}.png`);
          await page.screenshot({ path: file, fullPage: true });
        }
      }
    }
    console.error(`mails: ${language}`);
  }
  await page.close();
}
