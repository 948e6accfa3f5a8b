import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

/** In ASCII: other characters, of which it has a few, double its length in the browser. */
const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8').replaceAll(
  /[^\0-\x7f]/g,
  (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
);

interface AxeResult {
  violations: { id: string; nodes: { html: string; failureSummary: string }[] }[];
}

/** Rules of WCAG 2.2 are not among axe's defaults. A frame is a page of its own and looked at for itself. */
const everything = {
  preload: false,
  iframes: false,
  resultTypes: ['violations'],
  rules: { 'target-size': { enabled: true } },
};
/**
 * What colours and sizes decide. All other rules would look at the same elements again: no style sheet hides
 * any from one of the looks alone.
 */
const byLook = ['color-contrast', 'link-in-text-block', 'scrollable-region-focusable', 'target-size'];

/** What the texts of a language decide: names of controls and pages, and the language itself. */
const byText = [
  'aria-command-name',
  'aria-input-field-name',
  'aria-toggle-field-name',
  'button-name',
  'document-title',
  'empty-heading',
  'html-has-lang',
  'html-lang-valid',
  'image-alt',
  'input-button-name',
  'label',
  'link-name',
  'select-name',
  'summary-name',
  'valid-lang',
];

const lookOnly = { ...everything, rules: {}, runOnly: byLook };
const textOnly = { ...everything, rules: {}, runOnly: byText };
const lookAndText = { ...everything, rules: {}, runOnly: [...byLook, ...byText] };

/** A colour scheme and a size of the window, and what axe looks for; without options, the layout alone. */
interface Look {
  colorScheme: 'light' | 'dark';
  width: number;
  height: number;
  options?: object;
}

/** 320 px are also what is left of 1280 at 400 % (WCAG 1.4.10). */
const lightNarrow: Look = { colorScheme: 'light', width: 320, height: 256, options: everything };
const darkPhone: Look = { colorScheme: 'dark', width: 360, height: 740, options: lookOnly };
const darkWide: Look = { colorScheme: 'dark', width: 1280, height: 900, options: lookOnly };

const usualLooks: readonly Look[] = [lightNarrow, darkWide];

/**
 * For pages that are audited in several languages. Their structure is the same, so all rules apply in English
 * and those about looks and texts in Arabic. Arabic has the looks that English leaves out, so that each page
 * is seen light and dark, narrow and wide. Other languages have the colours of English: only their texts are
 * looked at, and whether they fit narrow and wide.
 */
export function looksIn(language: string): readonly Look[] {
  if (language === 'en') return usualLooks;
  const { options: _narrow, ...narrowLayout } = lightNarrow;
  const { options: _wide, ...wideLayout } = darkWide;
  return language === 'ar'
    ? [{ ...wideLayout, colorScheme: 'light', options: lookAndText }, darkPhone, narrowLayout]
    : [{ ...narrowLayout, options: textOnly }, wideLayout];
}

/** A mail fills a telephone, and has its greatest width in a window of 700 px. */
export const mailLooks: readonly Look[] = [
  { ...lightNarrow, width: 360, height: 740 },
  darkPhone,
  { ...darkPhone, width: 700 },
  { ...darkPhone, colorScheme: 'light', width: 700 },
];

/**
 * Looks at a page that was loaded without JavaScript. axe needs timers, so scripts are allowed meanwhile;
 * those of the page were skipped when it loaded.
 */
export async function auditPlainPage(page: Page, looks?: readonly Look[]): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  const disableScripts = (value: boolean) => session.send('Emulation.setScriptExecutionDisabled', { value });
  // Chromium ignores a value that this session has already.
  await disableScripts(true);
  await disableScripts(false);
  const found = await auditPage(page, looks);
  await disableScripts(true);
  return found;
}

/**
 * Looks at the page as it stands: axe's faults, sideways scrolling, targets that are too small.
 * @param looks light and narrow, dark and wide by default.
 * @returns what is wrong, as sentences.
 */
export async function auditPage(page: Page, looks = usualLooks): Promise<string[]> {
  const found: string[] = [];
  await provideAxe(page);
  for (const { colorScheme, width, height, options } of looks) {
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height });
    const layout = await page.evaluate<string[]>(layoutFaults);
    const faults = [...(options ? await axeFaults(page, options) : []), ...layout];
    found.push(...faults.map((fault) => `${colorScheme}, ${width} px: ${fault}`));
  }
  return found;
}

/** Pages whose later documents have axe from the start. */
const provided = new WeakSet<Page>();

/**
 * Sends axe to a page once: what the page opens afterwards begins with it. To send it to each document takes
 * longer than to run it there.
 */
async function provideAxe(page: Page): Promise<void> {
  if (await page.evaluate<boolean>(`typeof axe === 'object'`)) return;
  const session = await page.context().newCDPSession(page);
  // Takes half as long as page.evaluate with so long a script.
  await session.send('Runtime.evaluate', { expression: axe });
  await session.detach();
  if (!provided.has(page)) await page.addInitScript({ content: axe });
  provided.add(page);
}

async function axeFaults(page: Page, options: object): Promise<string[]> {
  const { violations } = await page.evaluate<AxeResult>(`axe.run(${JSON.stringify(options)})`);
  return violations.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${id}: ${html} ${failureSummary}`),
  );
}

/**
 * Runs in the page. A link inside a sentence may be as low as its line (WCAG 2.5.8, "Inline"); a field's
 * label is part of its target.
 */
const layoutFaults = `(() => {
  const faults = [];
  const { scrollWidth, clientWidth } = document.documentElement;
  if (scrollWidth > clientWidth) faults.push('scrolls sideways by ' + (scrollWidth - clientWidth) + ' px');
  for (const element of document.querySelectorAll('a[href], button, input:not([type=hidden]), select, textarea, summary')) {
    if (!element.checkVisibility()) continue;
    const { width, height } = (element.closest('label') ?? element).getBoundingClientRect();
    const inSentence = getComputedStyle(element).display === 'inline' && element.parentElement.textContent.trim() !== element.textContent.trim();
    if (!inSentence && Math.min(width, height) < 24)
      faults.push('is a target of ' + Math.round(width) + ' by ' + Math.round(height) + ' px: ' + element.outerHTML.slice(0, 160));
  }
  return faults;
})()`;
