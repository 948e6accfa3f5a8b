import { gzipSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { field, isPressed, richEditors, text, tool } from '../support/console/rich-editors.ts';
import { useInstance } from '../support/instances/instance.ts';
import { auditPage } from '../support/pages/audit-page.ts';
import { useBrowser } from '../support/pages/use-browser.ts';

const instance = useInstance();
const browser = useBrowser();
const inEditor = richEditors(instance, browser);

const shown = (page: Page) => page.frameLocator('iframe:not([hidden])').locator('body');

describe('the text editor of a rich text', () => {
  it('writes what is typed and formatted as HTML, shows it in the preview and saves it', () =>
    inEditor({ en: '<p>Read this</p>' }, async ({ page, stored }) => {
      await text(page).click();
      await page.keyboard.press('Control+End');
      await page.keyboard.type(' ');
      await page.keyboard.press('Control+b');
      await page.keyboard.type('now');
      await page.keyboard.press('Control+b');
      await page.keyboard.press('Enter');
      await page.keyboard.type('first');
      await tool(page, 'Bulleted list').click();
      expect(await isPressed(tool(page, 'Bulleted list'))).toBe('true');
      await page.keyboard.press('Enter');
      await page.keyboard.type('second');
      const written = '<p>Read this <strong>now</strong></p>\n<ul><li>first</li><li>second</li></ul>';
      expect(await field(page).inputValue()).toBe(written);
      await shown(page).getByRole('listitem').filter({ hasText: 'second' }).waitFor();
      await page.keyboard.press('Control+s');
      await page.waitForURL(/done=elementSaved/);
      expect((await stored()).en).toBe(written);
    }));

  it('formats the selected blocks with each button, and takes the format away again', () =>
    inEditor({ en: '<p>One</p><p>Two</p>' }, async ({ page }) => {
      await text(page).click();
      await page.keyboard.press('Control+a');
      for (const [name, html] of [
        ['Heading', '<h2>One</h2>\n<h2>Two</h2>'],
        ['Bulleted list', '<ul><li>One</li><li>Two</li></ul>'],
        ['Numbered list', '<ol><li>One</li><li>Two</li></ol>'],
        ['Quote', '<blockquote><p>One</p><p>Two</p></blockquote>'],
        ['Italic', '<p><em>One</em></p>\n<p><em>Two</em></p>'],
      ] as const) {
        await tool(page, name).click();
        expect(await field(page).inputValue()).toBe(html);
        expect(await isPressed(tool(page, name))).toBe('true');
        await tool(page, name).click();
        expect(await isPressed(tool(page, name))).toBe('false');
        // What was there at first is there byte for byte.
        expect(await field(page).inputValue()).toBe('<p>One</p><p>Two</p>');
      }
      await page.keyboard.press('Delete');
      expect(await field(page).inputValue()).toBe('');
      await page.keyboard.press('Control+z');
      expect(await field(page).inputValue()).toBe('<p>One</p><p>Two</p>');
    }));

  it('obeys the command that a keyboard of another script gives for Ctrl+B, and refuses fonts', () =>
    inEditor({ ar: '<p>نص</p>' }, async ({ page }) => {
      await text(page, 'ar').click();
      await page.keyboard.press('Control+a');
      const give = (inputType: string) =>
        page.evaluate(`document.activeElement.dispatchEvent(
          new InputEvent('beforeinput', { inputType: '${inputType}', data: 'serif', bubbles: true, cancelable: true }),
        )`);
      await give('formatBold');
      expect(await field(page, 'ar').inputValue()).toBe('<p><strong>نص</strong></p>');
      await give('formatFontName');
      await give('formatBold');
      expect(await field(page, 'ar').inputValue()).toBe('<p>نص</p>');
    }));

  it('links to web and mail addresses alone, which a dialog asks for', () =>
    inEditor({ en: '<p>Rules</p>' }, async ({ page }) => {
      const address = page.getByLabel('Address', { exact: true });
      const written = (html: string) => expect.poll(() => field(page).inputValue()).toBe(html);
      const set = async (typed: string) => {
        await tool(page, 'Link').click();
        await address.fill(typed);
        await page.keyboard.press('Enter');
      };
      await text(page).click();
      await page.keyboard.press('Control+a');
      for (const wrong of ['javascript:executed.push(1)', 'https://user:secret@example.org', 'tel:12', '']) {
        await set(wrong);
        await page.getByText('A text cannot link to this address.').waitFor();
        if (wrong === 'tel:12') expect(await auditPage(page)).toEqual([]);
        await page.getByRole('button', { name: 'Cancel' }).last().click();
      }
      expect(await field(page).inputValue()).toBe('<p>Rules</p>');
      await set('example.org/rules');
      await written('<p><a href="https://example.org/rules">Rules</a></p>');
      await expect.poll(() => isPressed(tool(page, 'Link'))).toBe('true');
      await page.keyboard.press('ArrowRight');
      await page.keyboard.press('ArrowLeft');
      await set('help@example.org');
      await written('<p><a href="mailto:help@example.org">Rules</a></p>');
      await tool(page, 'Link').click();
      await page.getByRole('button', { name: 'Remove the link' }).click();
      await written('<p>Rules</p>');
    }));

  it('shows the HTML, and the text again unless the text editor would change it', () =>
    inEditor({ en: '<p>One</p>' }, async ({ page }) => {
      await tool(page, 'HTML').click();
      await field(page).fill('<h3>Two</h3>\n<div>Three</div>four');
      await tool(page, 'HTML').click();
      await text(page).getByRole('heading', { name: 'Two' }).waitFor();
      await text(page).click();
      await page.keyboard.press('Control+End');
      await page.keyboard.type('!');
      expect(await field(page).inputValue()).toBe('<h3>Two</h3>\n<p>Three</p>\n<p>four!</p>');
      await tool(page, 'HTML').click();
      await field(page).fill('<p>One</p><hr><p class="note">Two</p>');
      await tool(page, 'HTML').click();
      await page.getByText('The text editor would change this HTML').waitFor();
      expect(await tool(page, 'Bold').isDisabled()).toBe(true);
      expect(await field(page).inputValue()).toBe('<p>One</p><hr><p class="note">Two</p>');
      expect(await auditPage(page)).toEqual([]);
    }));

  it('warns before what was typed is lost, also after the dialog of a link', () =>
    inEditor({ en: '<p>One</p>' }, async ({ page }) => {
      await text(page).click();
      await page.keyboard.type('typed');
      await tool(page, 'Link').click();
      await page.getByLabel('Address', { exact: true }).fill('example.org');
      await page.keyboard.press('Enter');
      await Promise.all([page.waitForEvent('dialog'), page.reload()]);
      await text(page).getByText('One', { exact: true }).waitFor();
    }));

  it('keeps what was typed when a language is added, and opens the text of the new one', () =>
    inEditor({ en: '<p>One</p>' }, async ({ page }) => {
      await text(page).click();
      await page.keyboard.press('Control+End');
      await page.keyboard.type(' more');
      await page.fill('[name="language"]', 'ar');
      await page.getByRole('button', { name: 'Add the language' }).click();
      await text(page, 'ar').click();
      await page.keyboard.type('مرحبا');
      expect(await field(page, 'ar').inputValue()).toBe('<p>مرحبا</p>');
      expect(await field(page).inputValue()).toBe('<p>One more</p>');
    }));

  it('has the focus where a fault leads to it', () =>
    inEditor({ en: '<p>One</p>' }, async ({ page }) => {
      await tool(page, 'HTML').click();
      await field(page).fill(`<p>${'long '.repeat(20_100)}</p>`);
      await page.getByRole('button', { name: 'Save the draft' }).last().click();
      await page.locator('.faults').getByRole('link', { name: 'Text' }).click();
      await page.waitForSelector('.rich-text[aria-invalid="true"]:focus');
      expect(await auditPage(page)).toEqual([]);
    }));

  it('is built again when htmx replaces the part of the page', () =>
    inEditor({ en: '<p>One</p>' }, async ({ page }) => {
      const fetched = page.waitForResponse((response) => response.url().endsWith('/edit'));
      await page.evaluate(`{
        const part = document.querySelector('form.editor');
        htmx.ajax('GET', location.pathname, { source: document.body, target: part, select: 'form.editor', swap: 'outerHTML' });
      }`);
      await fetched;
      await text(page).click();
      await page.keyboard.press('Control+End');
      await page.keyboard.type('!');
      expect(await field(page).inputValue()).toBe('<p>One!</p>');
    }));
});

describe('the toolbar', () => {
  it.each([
    ['en', 'ArrowRight', 'ArrowLeft', 'Bold', 'Italic'],
    ['ar', 'ArrowLeft', 'ArrowRight', 'غامق', 'مائل'],
  ])('in %s is one stop of the Tab key, and arrows lead along it', (locale, next, back, bold, italic) =>
    inEditor(
      { ar: '<h2>عنوان</h2><p>نص</p>', en: '<p>One</p>' },
      async ({ page }) => {
        expect(await text(page, 'ar').getAttribute('dir')).toBe('rtl');
        expect(await text(page, 'en').getAttribute('dir')).toBe('ltr');
        const focused = () => page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.id');
        // The titles of both languages stand beside each other, above the texts.
        await page.locator('[name="en:title"]').focus();
        await page.keyboard.press('Tab');
        expect(await focused()).toBe(bold);
        await page.keyboard.press(next);
        expect(await focused()).toBe(italic);
        await page.keyboard.press(back);
        await page.keyboard.press(back);
        expect(await focused()).toBe('HTML');
        await page.keyboard.press('Home');
        await page.keyboard.press('Tab');
        expect(await focused()).toBe('field-ar:body');
        await page.keyboard.press('Tab');
        expect(await focused()).toBe(bold);
        await page.keyboard.press('Tab');
        expect(await focused()).toBe('field-en:body');
        expect(await auditPage(page)).toEqual([]);
      },
      { browser: { locale } },
    ),
  );

  it('is not there without JavaScript: the textarea is', () =>
    inEditor(
      { en: '<p>One</p>' },
      async ({ page, stored }) => {
        expect(await page.getByRole('toolbar').count()).toBe(0);
        await field(page).fill('<p>Two</p><script>executed.push(1)</script>');
        await page.getByRole('button', { name: 'Save the draft' }).last().click();
        await page.locator('.kept').getByText('<script>').waitFor();
        expect(await field(page).inputValue()).toBe('<p>Two</p>');
        expect(await stored()).toEqual({ en: '<p>Two</p>' });
      },
      { browser: { javaScriptEnabled: false } },
    ));
});

it('has at most 100 kB of scripts and styles, compressed', async () => {
  await inEditor({ en: '<p>One</p>' }, async ({ page }) => {
    const urls = await page.evaluate<string[]>(
      `performance.getEntriesByType('resource').map(({ name }) => name).filter((name) => name.includes('/assets/'))`,
    );
    const files = await Promise.all(
      urls.map(async (url) => gzipSync(await (await fetch(url)).text()).length),
    );
    expect(urls.some((url) => url.includes('/squire.'))).toBe(true);
    expect(files.reduce((sum, size) => sum + size, 0)).toBeLessThan(100_000);
  });
});
