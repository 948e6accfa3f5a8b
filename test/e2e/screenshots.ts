import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createAssets } from '../../services/forms/pages/assets.ts';
import { createPageRenderer } from '../../services/forms/pages/page-renderer.ts';
import { openSample } from '../support/contract/open-sample.ts';
import { launchChromium } from '../support/pages/chromium.ts';
import { startPageServer } from '../support/pages/page-server.ts';
import { samplePages } from '../support/pages/sample-pages.ts';
import { type SampleLanguage, sampleLanguages } from '../support/samples/sample-content.ts';
import { photographConsole } from './screenshots-console.ts';
import { photographMails } from './screenshots-mails.ts';

/*
 * npm run screenshots [-- name…]: takes every sample page, every page of the console (`console`) and every
 * mail (`mails`), in each language, light and dark, narrow and wide, as PNG files in a new folder outside the
 * repository, and prints its path. Progress goes to stderr.
 */
const wanted = process.argv.slice(2);
const assets = createAssets();
const renderer = createPageRenderer(assets);
const server = await startPageServer({ renderer, assets }, (request) => {
  const [, , name = '', language = 'en'] = request.split('/');
  return samplePages(language as SampleLanguage)[name] ?? null;
});
const folder = process.env.SCREENSHOTS ?? (await mkdtemp(path.join(tmpdir(), 'accord-screenshots-')));
const colorSchemes = ['light', 'dark'] as const;
const widths = [360, 1280];
const namesIn = (language: SampleLanguage) =>
  Object.keys(samplePages(language)).filter((name) => wanted.length === 0 || wanted.includes(name));
const total =
  sampleLanguages.reduce((sum, language) => sum + namesIn(language).length, 0) *
  colorSchemes.length *
  widths.length;
let done = 0;
console.error(`${total} screenshots in ${folder}`);
const browser = await launchChromium();
for (const colorScheme of colorSchemes) {
  for (const width of widths) {
    const context = await browser.newContext({
      colorScheme,
      viewport: { width, height: width === 360 ? 740 : 900 },
    });
    const page = await context.newPage();
    for (const language of sampleLanguages) {
      await mkdir(path.join(folder, language), { recursive: true });
      for (const name of namesIn(language)) {
        await openSample(page, server.origin, name, language);
        await page.screenshot({
          path: path.join(folder, language, `${name}-${colorScheme}-${width}.png`),
          fullPage: true,
        });
        done += 1;
      }
      console.error(`${done} of ${total}: ${language}, ${colorScheme}, ${width} px`);
    }
    await context.close();
  }
}
if (wanted.length === 0 || wanted.includes('console'))
  await photographConsole({ browser, folder, colorSchemes, widths });
if (wanted.length === 0 || wanted.includes('mails')) await photographMails({ browser, folder, colorSchemes });
await browser.close();
await server.close();
console.log(folder);
