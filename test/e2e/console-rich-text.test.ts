import { gzipSync } from 'node:zlib';
import type { Browser, Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { enterConsole } from '../support/console/walk-console.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { auditPage } from '../support/pages/audit-page.ts';
import { launchChromium } from '../support/pages/chromium.ts';
import { openWatchedPage } from '../support/pages/watched-page.ts';

const instance = useInstance();
let browser: Browser;
beforeAll(async () => {
  browser = await launchChromium();
});
afterAll(() => browser?.close());

interface Model {
  id: string;
  key: string;
}

/** Creates conditions with this body by language. */
async function makeConditions(bodies: Record<string, string>): Promise<Model> {
  const { send } = await signIn(instance, 'admin');
  const model = (await (
    await send('POST', '/models', { type: 'conditions', name: 'Terms' })
  ).json()) as Model;
  const [defaultLanguage = 'en'] = Object.keys(bodies);
  const data = Object.fromEntries(
    Object.entries(bodies).map(([language, body]) => [language, { title: 'Terms', body }]),
  );
  const made = await send('POST', `/models/${model.id}/versions`, { defaultLanguage, data });
  expect(made.status).toBe(201);
  return model;
}

/** The stored bodies of the draft, by language. */
async function storedBodies({ id }: Model): Promise<Record<string, string>> {
  const { send } = await signIn(instance, 'admin');
  const { versions } = (await (await send('GET', `/models/${id}`)).json()) as { versions: { id: string }[] };
  const version = (await (await send('GET', `/models/${id}/versions/${versions[0]?.id}`)).json()) as {
    data: Record<string, { body: string }>;
  };
  return Object.fromEntries(Object.entries(version.data).map(([language, { body }]) => [language, body]));
}

type Options = Parameters<typeof openWatchedPage>[2];

/** Opens the editor of conditions with these bodies, and expects that its page did nothing wrong. */
async function inEditor(
  bodies: Record<string, string>,
  test: (page: Page, model: Model) => Promise<void>,
  options: Options = {},
): Promise<void> {
  const model = await makeConditions(bodies);
  const watched = await openWatchedPage(browser, [instance.url], { locale: 'en', ...options });
  try {
    const { page } = watched;
    await enterConsole(page, instance.url, 'admin');
    await page.goto(`${instance.url}/console/elements/${model.key}/edit`);
    await page.evaluate('window.executed = []');
    await test(page, model);
    const complaints = await watched.complaints();
    expect(complaints.filter((each) => !each.startsWith('set the cookie'))).toEqual([]);
  } finally {
    await watched.close();
  }
}

const field = (page: Page, language = 'en') => page.locator(`[name="${language}:body"]`);
const box = (page: Page, language = 'en') => page.locator('.field', { has: field(page, language) });
const text = (page: Page, language = 'en') => box(page, language).getByRole('textbox').first();
const tool = (page: Page, name: string, language = 'en') =>
  box(page, language).getByRole('button', { name, exact: true });
const isPressed = (button: Locator) => button.getAttribute('aria-pressed');

/** Pastes HTML as if it came from another program. */
const paste = (where: Locator, html: string) =>
  where.evaluate((target, given) => {
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/html', given);
    clipboardData.setData('text/plain', 'plain');
    const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
    target.dispatchEvent(event);
  }, html);

const shown = (page: Page) => page.frameLocator('iframe:not([hidden])').locator('body');

/** As Word and the web give it, and as an attacker would. */
const hostile = `<html><head><style>p { color: red }</style><title>Not text</title></head><body>
<!--[if gte mso 9]><xml></xml><![endif]-->
<h1 style="color:red" onclick="executed.push(1)" id="main">Title</h1>
<b style="font-weight:normal"><p class="MsoNormal" style="margin:0">Word <span style="font-weight:700">bold</span><span
 style="font-style:italic"> and italic</span><o:p></o:p></p></b>
<img src="x" onerror="executed.push(2)"><svg onload="executed.push(3)"><text>svg</text></svg>
<div hx-get="/console" hx-trigger="load">A <a href="javascript:executed.push(4)">bad</a>, <a href="/console">relative</a>
and <a href="https://example.org/" target="_top">good</a> link</div>
<ul class="x"><li style="y">item</li></ul><script>executed.push(5)</script><iframe src="javascript:executed.push(6)"></iframe>
<form action="https://evil.example"><input name="op" value="save"><p>end</p></form></body></html>`;

const save = async (page: Page) => {
  await page.getByRole('button', { name: 'Save the draft' }).last().click();
  await page.waitForURL(/done=elementSaved/);
};

describe('the text editor of a rich text', () => {
  it('writes what is typed and formatted as HTML, shows it in the preview and saves it', () =>
    inEditor({ en: '<p>Read this</p>' }, async (page, model) => {
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
      expect((await storedBodies(model)).en).toBe(written);
    }));

  it('formats the selected blocks with each button, and takes the format away again', () =>
    inEditor({ en: '<p>One</p><p>Two</p>' }, async (page) => {
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

  it('links to web and mail addresses alone, which a dialog asks for', () =>
    inEditor({ en: '<p>Rules</p>' }, async (page) => {
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
      page.once('dialog', (dialog) => dialog.accept());
      await page.reload();
    }));

  it('shows the HTML, and the text again unless the text editor would change it', () =>
    inEditor({ en: '<p>One</p>' }, async (page) => {
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
      page.once('dialog', (dialog) => dialog.accept());
      await page.reload();
    }));

  it.each([
    '<p>One</p>\n\n<p>Two <b>bold</b> <i>it</i> <strong>strong</strong></p>',
    'Only text with <em>emphasis</em> &amp; more',
    '<ul>\n  <li>One\n    <ul><li>Inner</li></ul></li>\n  <li>Two</li>\n</ul>',
    '<div><p>In a div</p>beside</div><blockquote>Quoted</blockquote>',
    '<p lang="fr" dir="ltr">Une ligne<br />et une autre</p><pre>a\n  b</pre>',
  ])('opens %j, and saves it byte for byte if nothing is typed', (html) =>
    inEditor({ en: html }, async (page, model) => {
      const before = (await storedBodies(model)).en;
      await text(page).click();
      await page.keyboard.press('ArrowDown');
      await page.locator('[name="en:acceptLabel"]').fill('Yes');
      await save(page);
      expect((await storedBodies(model)).en).toBe(before);
    }),
  );

  it.each([
    'Lines of a text\nwithout tags',
    '<p>One</p><hr /><p>Two</p>',
    '<p></p><p>after nothing</p>',
    '<p><span>without a meaning</span></p>',
    '<p>zero\u200bwidth</p>',
  ])('leaves %j as HTML, because it would change it', (html) =>
    inEditor({ en: html }, async (page, model) => {
      const before = (await storedBodies(model)).en;
      await field(page).waitFor();
      await page.getByText('The text editor would change this HTML').waitFor();
      await page.locator('[name="en:acceptLabel"]').fill('Yes');
      await save(page);
      expect((await storedBodies(model)).en).toBe(before);
    }),
  );

  it('reduces what is pasted to what a text may contain, and runs none of it', () =>
    inEditor({ en: '<p>x</p>' }, async (page) => {
      await text(page).click();
      await page.keyboard.press('Control+a');
      await paste(text(page), hostile);
      await page.waitForFunction('document.querySelector(`[name="en:body"]`).value.includes("end")');
      expect(await field(page).inputValue()).toBe(
        [
          '<h1>Title</h1>',
          '<p>Word <strong>bold</strong><em> and italic</em></p>',
          '<p>A <a>bad</a>, <a>relative</a> and <a href="https://example.org/">good</a> link</p>',
          '<ul><li>item</li></ul>',
          '<p>end</p>',
        ].join('\n'),
      );
      expect(await page.evaluate('executed')).toEqual([]);
      page.once('dialog', (dialog) => dialog.accept());
      await page.reload();
    }));

  it('tells what the API has taken away from a text, element by element', () =>
    inEditor({ en: '<p>One</p>', fr: '<p>Un</p>' }, async (page, model) => {
      await tool(page, 'HTML', 'fr').click();
      const typed = '<p class="x">Un</p><img src="data:," onerror="executed.push(1)"><x-y>reste</x-y>';
      await field(page, 'fr').fill(typed);
      await page.getByRole('button', { name: 'Save and activate' }).click();
      await page.getByText('The draft is saved. Texts cannot contain').waitFor();
      await page.getByText('Text (French): <p class> <img> <x-y>').waitFor();
      expect(await storedBodies(model)).toEqual({ en: '<p>One</p>', fr: '<p>Un</p>reste' });
      expect(await auditPage(page)).toEqual([]);
      await save(page);
    }));

  it('warns before what was typed is lost, also after the dialog of a link', () =>
    inEditor({ en: '<p>One</p>' }, async (page) => {
      await text(page).click();
      await page.keyboard.type('typed');
      await tool(page, 'Link').click();
      await page.getByLabel('Address', { exact: true }).fill('example.org');
      await page.keyboard.press('Enter');
      const asked = page.waitForEvent('dialog').then((dialog) => dialog.accept());
      await Promise.all([asked, page.reload()]);
      await text(page).getByText('One', { exact: true }).waitFor();
    }));

  it('keeps what was typed when a language is added, and opens the text of the new one', () =>
    inEditor({ en: '<p>One</p>' }, async (page) => {
      await text(page).click();
      await page.keyboard.press('Control+End');
      await page.keyboard.type(' more');
      await page.fill('[name="language"]', 'ar');
      await page.getByRole('button', { name: 'Add the language' }).click();
      await text(page, 'ar').click();
      await page.keyboard.type('مرحبا');
      expect(await field(page, 'ar').inputValue()).toBe('<p>مرحبا</p>');
      expect(await field(page).inputValue()).toBe('<p>One more</p>');
      page.once('dialog', (dialog) => dialog.accept());
      await page.reload();
    }));

  it('is built again when htmx replaces the part of the page', () =>
    inEditor({ en: '<p>One</p>' }, async (page) => {
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
      async (page) => {
        expect(await text(page, 'ar').getAttribute('dir')).toBe('rtl');
        expect(await text(page, 'en').getAttribute('dir')).toBe('ltr');
        const focused = () => page.evaluate('document.activeElement.ariaLabel ?? document.activeElement.id');
        await page.locator('[name="ar:title"]').focus();
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
        expect(await focused()).toBe('field-ar:acceptLabel');
        expect(await auditPage(page)).toEqual([]);
      },
      { locale },
    ),
  );

  it('is not there without JavaScript: the textarea is', async () => {
    const model = await makeConditions({ en: '<p>One</p>' });
    const watched = await openWatchedPage(browser, [instance.url], {
      javaScriptEnabled: false,
      locale: 'en',
    });
    const { page } = watched;
    await enterConsole(page, instance.url, 'admin');
    await page.goto(`${instance.url}/console/elements/${model.key}/edit`);
    expect(await page.getByRole('toolbar').count()).toBe(0);
    await field(page).fill('<p>Two</p><script>executed.push(1)</script>');
    await page.getByRole('button', { name: 'Save the draft' }).last().click();
    await page.getByText('Text (English): <script>').waitFor();
    expect(await field(page).inputValue()).toBe('<p>Two</p>');
    await watched.close();
  });
});

it('has at most 100 kB of scripts and styles, compressed', async () => {
  await inEditor({ en: '<p>One</p>' }, async (page) => {
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
