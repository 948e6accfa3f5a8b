import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { assets, renderer } from '../support/pages/page-renderer.ts';
import { type PageServer, startPageServer } from '../support/pages/page-server.ts';
import { samplePages } from '../support/pages/sample-pages.ts';
import { useBrowser } from '../support/pages/use-browser.ts';

const browser = useBrowser();
let server: PageServer;
beforeAll(async () => {
  server = await startPageServer({ renderer, assets }, (path) => {
    const [, , name = ''] = path.split('/');
    return samplePages('en')[name] ?? null;
  });
});
afterAll(() => server?.close());

/**
 * Puts a word of 52 letters in the place of every text but those of fixed buttons, and opens everything that
 * can be opened.
 */
const lengthen = `
  for (const each of document.querySelectorAll('details')) each.open = true;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const { parentElement, nodeValue } = walker.currentNode;
    if (/[a-z]{2}/i.test(nodeValue) && !parentElement.closest('option, script, svg, style, .method, .copy'))
      walker.currentNode.nodeValue = 'Datenschutzgrundverordnungsbeauftragtenversammlungen';
  }`;

/** Elements that reach beyond the page, and elements whose content is cut off. */
const findClipped = `[...document.body.querySelectorAll('*')].flatMap((element) => {
  const { right, left, width } = element.getBoundingClientRect();
  const { overflowX, clipPath } = getComputedStyle(element);
  if (width === 0 || clipPath !== 'none' || element.closest('svg, .hidden, .skip')) return [];
  const isScrolled = (each) => each && (/auto|scroll/.test(getComputedStyle(each).overflowX) || isScrolled(each.parentElement));
  if (isScrolled(element)) return [];
  const isBeyond = right > innerWidth + 1 || left < -1;
  const isCut = element.clientWidth > 0 && element.scrollWidth > element.clientWidth + 1 && overflowX !== 'visible';
  return isBeyond || isCut ? [element.localName + '.' + element.className + ' ' + Math.round(left) + '-' + Math.round(right)] : [];
})`;

// Exports are files with a style sheet inside, which the policy of this server forbids.
const names = Object.keys(samplePages('en')).filter((name) => !name.startsWith('export'));

describe('a page of words of 52 letters fits a screen of 320 px', () => {
  it.each(names)('%s', async (name) => {
    const page = await browser.newPage({ viewport: { width: 320, height: 700 } });
    await page.goto(`${server.origin}/sample/${name}`);
    await page.evaluate(lengthen);
    expect(await page.evaluate<string[]>(findClipped)).toEqual([]);
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320);
    await page.close();
  });
});
