import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assets, renderer } from '../support/pages/page-renderer.ts';
import { type PageServer, startPageServer } from '../support/pages/page-server.ts';
import { samplePages } from '../support/pages/sample-pages.ts';
import { useBrowser } from '../support/pages/use-browser.ts';
import type { SampleLanguage } from '../support/samples/sample-content.ts';

const browser = useBrowser();
let server: PageServer;
let page: Page;

beforeAll(async () => {
  server = await startPageServer({ renderer, assets }, (path) => {
    const [, , name = '', language = 'en'] = path.split('/');
    return samplePages(language as SampleLanguage)[name] ?? null;
  });
  page = await browser.newPage({ viewport: { width: 1280, height: 900 } });
});
afterAll(async () => {
  await server?.close();
});

const show = (name: string, language: SampleLanguage = 'en') =>
  page.goto(`${server.origin}/sample/${name}/${language}`);
const box = async (locator: Locator) => {
  const found = await locator.boundingBox();
  if (!found) throw new Error('it is not shown');
  return found;
};

describe('a form whose questions stand side by side', () => {
  it.each(['form-horizontal', 'form-horizontal-odd'])(
    'has two columns without holes, in the order of the form (%s)',
    async (name) => {
      await show(name);
      const columns = await page.locator('.column').all();
      expect(columns).toHaveLength(2);
      const [left, right] = await Promise.all(columns.map(box));
      expect(left?.y).toBe(right?.y);
      for (const column of columns) {
        const questions = await column.locator('.question').all();
        expect(questions.length).toBeGreaterThan(0);
        let end = (await box(column)).y - 20;
        for (const question of questions) {
          const { y, height } = await box(question);
          expect(y - end, 'between two questions').toBeLessThanOrEqual(21);
          end = y + height;
          const last = await box(question.locator('.answer > :last-child'));
          expect(end - (last.y + last.height), 'below an answer').toBeLessThan(32);
        }
      }
    },
  );

  it.each(['form-horizontal', 'form-horizontal-odd'])('is one column on a phone (%s)', async (name) => {
    await page.setViewportSize({ width: 360, height: 740 });
    await show(name);
    const lefts = await page.locator('.question').evaluateAll(leftEdges);
    expect(new Set(lefts).size).toBe(1);
    await page.setViewportSize({ width: 1280, height: 900 });
  });
});

describe('a piece that is not translated', () => {
  it.each(['form-other-language', 'form-peer', 'receipt', 'committed'])(
    'begins where the page begins, from right to left (%s)',
    async (name) => {
      await show(name, 'ar');
      const aligned = await page.locator('main [dir=ltr]').evaluateAll(alignments);
      expect(aligned.filter((alignment) => alignment !== 'right')).toEqual([]);
      if (name === 'form-other-language') expect(aligned.length).toBeGreaterThan(3);
    },
  );

  it('begins where the page begins, from left to right', async () => {
    await page.goto(`${server.origin}/sample/form-other-language/en`);
    await page.locator('main').evaluate(append);
    expect(await page.locator('main [dir=rtl]').evaluateAll(alignments)).toEqual(['left']);
  });
});

describe('the masthead', () => {
  it.each(['form-via', 'child'])('names who asks before the instance (%s)', async (name) => {
    await show(name);
    expect(await page.locator('.masthead').innerText()).toBe(
      'Riverside Clinic via Health Portal of the City',
    );
  });

  it('has one name where the instance itself asks', async () => {
    await show('form');
    expect(await page.locator('.masthead').innerText()).toBe('Riverside Clinic');
  });
});

describe('a preview', () => {
  it('has buttons that look as disabled as they are', async () => {
    await show('form-preview');
    const looks = await page.locator('main button').evaluateAll(colours);
    expect(looks.length).toBeGreaterThan(2);
    expect(new Set(looks).size, 'all look alike').toBe(1);
    await show('form');
    expect(await page.locator('main button.primary').evaluateAll(colours)).not.toContain(looks[0]);
  });
});

interface Styled {
  ownerDocument: {
    defaultView: { getComputedStyle(node: object): Record<string, string> };
    createElement(name: string): { dir: string; textContent: string };
  };
  append(node: object): void;
}

/** Runs in the page. */
function alignments(elements: object[]): (string | undefined)[] {
  return elements.map(
    (element) => (element as Styled).ownerDocument.defaultView.getComputedStyle(element).textAlign,
  );
}

/** Runs in the page. */
function leftEdges(elements: object[]): number[] {
  return elements.map(
    (element) => (element as { getBoundingClientRect(): { left: number } }).getBoundingClientRect().left,
  );
}

/** Runs in the page. */
function colours(elements: object[]): string[] {
  return elements.map((element) => {
    const style = (element as Styled).ownerDocument.defaultView.getComputedStyle(element);
    return `${style.color} ${style.backgroundColor} ${style.borderTopStyle} ${style.cursor}`;
  });
}

/** Runs in the page. */
function append(main: object): void {
  const text = (main as Styled).ownerDocument.createElement('p');
  Object.assign(text, { dir: 'rtl', textContent: 'مرحبًا' });
  (main as Styled).append(text);
}
