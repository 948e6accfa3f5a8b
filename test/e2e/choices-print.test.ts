import { afterAll, beforeAll, expect, it } from 'vitest';
import { assets, renderer } from '../support/pages/page-renderer.ts';
import { type PageServer, startPageServer } from '../support/pages/page-server.ts';
import { samplePages } from '../support/pages/sample-pages.ts';
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
afterAll(() => server?.close());

const hidden = 'button, input, textarea, .actions, .no-print';
const said = 'h1, .choice h2, .choice h3, .given, .facts dd, .choice details dd, .ledger td';

const samples = sampleLanguages.flatMap((language) =>
  ['choices', 'choices-peers'].map((name) => [name, language] as const),
);

it.each(samples)(
  'my choices on paper say everything, what is folded too, and have nothing to click (%s, %s)',
  async (name, language) => {
    // A4 between margins of 1 cm.
    const page = await browser.newPage({ viewport: { width: 718, height: 1047 } });
    try {
      await page.goto(`${server.origin}/sample/${name}/${language}`);
      const folded = page.locator('.choice details:not(.no-print) dd').first();
      expect(await folded.isVisible()).toBe(false);
      await page.emulateMedia({ media: 'print' });
      expect(await folded.isVisible()).toBe(true);
      for (const each of await page.locator(hidden).all()) expect(await each.isVisible()).toBe(false);
      const texts = await page.locator(said).all();
      expect(texts.length).toBeGreaterThan(30);
      for (const each of texts) expect(await each.isVisible(), await each.innerText()).toBe(true);
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(718);
    } finally {
      await page.close();
    }
  },
);
