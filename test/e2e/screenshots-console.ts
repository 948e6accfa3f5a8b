import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Browser } from 'playwright-core';
import { enterConsole, fillInstance, walkConsole } from '../support/console/walk-console.ts';
import { contractFetch } from '../support/contract/contract.ts';
import { startStandalone } from '../support/instances/standalone-process.ts';
import { sampleLanguages } from '../support/samples/sample-content.ts';

interface Options {
  browser: Browser;
  folder: string;
  colorSchemes: readonly ('light' | 'dark')[];
  /** CSS pixels. */
  widths: readonly number[];
}

/** Takes every page of the console that an administrator reaches by links, in front of a filled instance. */
export async function photographConsole({ browser, folder, colorSchemes, widths }: Options): Promise<void> {
  const data = await mkdtemp(path.join(tmpdir(), 'accord-screenshots-data-'));
  // The embedded PostgreSQL does not run as root, and must reach it.
  await chmod(data, 0o755);
  const standalone = startStandalone({ DATA_DIR: data });
  const url = await standalone.ready;
  await fillInstance({ url, fetch: contractFetch(url) });
  for (const language of sampleLanguages) {
    const shelf = path.join(folder, 'console', language);
    await mkdir(shelf, { recursive: true });
    for (const colorScheme of colorSchemes)
      for (const width of widths) {
        const viewport = { width, height: width === 360 ? 740 : 900 };
        const context = await browser.newContext({ colorScheme, viewport, locale: language });
        const page = await context.newPage();
        await enterConsole(page, url, 'admin');
        const paths = await walkConsole(page, url, async (address) => {
          const name = address
            .replace(/^\/console\/?/, '')
            .replaceAll(/[^\w.]+/g, '-')
            .slice(0, 80);
          const file = `${name || 'home'}-${colorScheme}-${width}.png`;
          await page.screenshot({ path: path.join(shelf, file), fullPage: true });
        });
        await context.close();
        console.error(`console: ${paths.length} pages in ${language}, ${colorScheme}, ${width} px`);
      }
  }
  await standalone.stop();
  await rm(data, { recursive: true });
}
