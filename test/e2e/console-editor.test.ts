import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { enterConsole } from '../support/console/walk-console.ts';
import { useInstance } from '../support/instances/instance.ts';
import { auditPage, looksIn } from '../support/pages/audit-page.ts';
import { useBrowser } from '../support/pages/use-browser.ts';
import { openWatchedPage } from '../support/pages/watched-page.ts';

const instance = useInstance();
const browser = useBrowser();

/** Creates an element or a form, opens its editor, and expects that no page did anything wrong. */
async function inEditor(
  options: Parameters<typeof openWatchedPage>[2],
  test: (page: Page) => Promise<void>,
  { room = 'elements', editor = 'form.editor', query = '' } = {},
): Promise<void> {
  const watched = await openWatchedPage(browser, [instance.url], options);
  try {
    const { page } = watched;
    await enterConsole(page, instance.url, 'admin');
    await page.goto(`${instance.url}/console/${room}/new${query}`);
    await page.fill('[name="name"]', 'Letter');
    await page.click('form.form button.primary');
    await page.waitForSelector(editor);
    // Scripts run after the fields are there.
    await page.waitForLoadState();
    await test(page);
    const complaints = await watched.complaints();
    // The console has a session, and so has the issuer.
    expect(complaints.filter((each) => !each.startsWith('set the cookie'))).toEqual([]);
  } finally {
    await watched.close();
  }
}

const shown = (page: Page) => page.frameLocator('iframe:not([hidden])').locator('body');

it.each([
  ['elements', 'form.editor', '[name="en:title"]'],
  ['forms', 'form.designer', '[name^="submitText"]'],
])(
  'an editor of %s is not left with unsaved text unasked, by a link or by another form of the page',
  (room, editor, text) =>
    inEditor(
      {},
      async (page) => {
        const asked: string[] = [];
        page.on('dialog', async (dialog) => {
          asked.push(dialog.type());
          await dialog.dismiss();
        });
        const field = page.locator(text).first();
        await field.fill('Not saved yet');
        await page.click('.places a[href="/console"]', { noWaitAfter: true });
        await expect.poll(() => asked).toEqual(['beforeunload']);
        await page.fill('.search input', 'nobody');
        await page.press('.search input', 'Enter', { noWaitAfter: true });
        await expect.poll(() => asked).toEqual(['beforeunload', 'beforeunload']);
        expect(await field.inputValue()).toBe('Not saved yet');
        page.removeAllListeners('dialog');
        page.once('dialog', (dialog) => dialog.accept());
        await page.goto(`${instance.url}/console`);
      },
      { room, editor },
    ),
);

describe('the editor of an element', () => {
  it('shows what is typed as people will see it, saves nothing, and adds nothing to the history', () =>
    inEditor({}, async (page) => {
      const before = await page.evaluate<number>('history.length');
      await page.fill('[name="en:title"]', 'A letter each month');
      await shown(page).getByText('A letter each month').first().waitFor();
      await page.fill('[name="en:usage"]', 'We write <b>to you</b>.');
      await shown(page).getByText('We write <b>to you</b>.').first().waitFor();
      expect(await page.locator('iframe').count()).toBe(1);
      await page.waitForSelector('[name="en:usage"]:focus');
      expect(await page.evaluate<number>('history.length')).toBe(before);
      expect(await auditPage(page)).toEqual([]);
      page.once('dialog', (dialog) => dialog.accept());
      await page.reload();
      expect(await page.inputValue('[name="en:title"]')).toBe('');
    }));

  it('counts what each language lacks while it is written, as it is counted when it is saved', () =>
    inEditor({ viewport: { width: 1280, height: 900 } }, async (page) => {
      await page.fill('[name="language"]', 'French');
      await page.click('button[value="add-language"]');
      await page.waitForSelector('[name="fr:title"]');
      const states = () => page.locator('[data-needs]').allInnerTexts();
      expect(await states()).toEqual(['5 missing', '5 missing']);
      // As wide as a text needs.
      for (const name of ['en:title', 'fr:title', 'en:data', 'fr:data']) {
        const box = await page.locator(`[name="${name}"]`).boundingBox();
        expect(box?.width).toBeGreaterThanOrEqual(320);
      }
      const tops = await page
        .locator('[name$=":usage"]')
        .evaluateAll((all) => all.map((each) => each.offsetTop));
      expect(new Set(tops).size).toBe(1);
      await page.fill('[name="en:title"]', 'A letter');
      expect(await states()).toEqual(['4 missing', '5 missing']);
      await page.fill('[name="*:retention.value"]', '2');
      await page.check('[name="*:thirdParties.none"]');
      expect(await states()).toEqual(['2 missing', '3 missing']);
      await page.fill('[name="en:title"]', ' ');
      expect(await states()).toEqual(['3 missing', '3 missing']);
      await page.click('button[value="addRow"]');
      await page.waitForSelector('[name="fr:thirdParties.name"]');
      const counted = await states();
      await page.fill('[name="fr:thirdParties.name"]', 'Imprimerie');
      expect(await states()).not.toEqual(counted);
      expect(await auditPage(page)).toEqual([]);
      page.once('dialog', (dialog) => dialog.accept());
      await page.reload();
    }));

  it('says in the preview why something cannot be shown', () =>
    inEditor({}, async (page) => {
      await page.fill('[name="*:retention.value"]', '-4');
      await shown(page).getByText('This cannot be shown yet').waitFor();
    }));

  it('without JavaScript has a button for the preview of each language', () =>
    inEditor({ javaScriptEnabled: false, locale: 'ar' }, async (page) => {
      await page.fill('[name="language"]', 'ar');
      await page.click('button[value="add-language"]');
      await page.fill('[name="ar:title"]', 'رسالة شهرية');
      await page.click('button[name="preview"][value="ar"]');
      await shown(page).getByText('رسالة شهرية').first().waitFor();
      expect(await page.inputValue('[name="ar:title"]')).toBe('رسالة شهرية');
    }));
});

describe('the options of a question', () => {
  it('are added and moved by keyboard; the preview follows, in the language that is typed in', () =>
    inEditor(
      { reducedMotion: 'reduce' },
      async (page) => {
        await page.fill('[name="language"]', 'fr');
        await page.click('button[value="add-language"]');
        await page.selectOption('[name="*:valueType"]', 'RADIO_BUTTONS');
        for (const [row, text] of ['Weekly', 'Never'].entries()) {
          await page.press('button[value="addRow"]', 'Enter');
          await page.waitForSelector(`[id="field-en:options:${row}"]:focus`);
          await page.keyboard.type(text);
        }
        await page.press('button[value="down:0"]', 'Enter');
        await page.waitForSelector('button[value="up:1"]:focus');
        await expect.poll(() => shown(page).innerText()).toMatch(/Never\s+Weekly/);
        await page.fill('[id="field-fr:options:0"]', 'Jamais');
        await shown(page).getByText('Jamais').first().waitFor();
        expect(await auditPage(page)).toEqual([]);
        page.once('dialog', (dialog) => dialog.accept());
        await page.reload();
      },
      { query: '?type=preference' },
    ));
});

describe('a preview', () => {
  it.each([true, false])('is narrow or dark by its radio buttons (JavaScript: %s)', (javaScriptEnabled) =>
    // Without an emulated scheme: emulation replaces what frames inherit.
    inEditor({ javaScriptEnabled, colorScheme: null }, async (page) => {
      const look = () =>
        page
          .frameLocator('iframe:not([hidden])')
          .locator('body')
          .evaluate((body) => {
            const view = body.ownerDocument.defaultView;
            return [view.innerWidth > 360, view.matchMedia('(prefers-color-scheme: dark)').matches];
          });
      await page.fill('[name="en:title"]', 'A letter');
      await page.click('button[name="preview"][value="en"]');
      await shown(page).getByText('A letter').first().waitFor();
      expect(await look()).toEqual([true, false]);
      await page.check('[name="preview-width"][value="narrow"]');
      await page.check('[name="preview-colors"][value="dark"]');
      await expect.poll(look).toEqual([false, true]);
      page.once('dialog', (dialog) => dialog.accept());
    }),
  );
});

describe('the designer of a form', () => {
  const designer = { room: 'forms', editor: 'form.designer' };
  const order = (page: Page) =>
    page.locator('.rows [name="elements"]').evaluateAll((fields) => fields.map((field) => field.value));

  it('moves elements that are dragged by their handle, and saves nothing', () =>
    inEditor(
      { reducedMotion: 'reduce', viewport: { width: 1280, height: 1000 } },
      async (page) => {
        for (const key of ['processing.001', 'processing.002', 'processing.003']) {
          await page.click(`button[value="add:${key}"]`);
          await page.waitForSelector(`[name="elements"][value="${key}"]`, { state: 'attached' });
        }
        const [first, , third] = await page.locator('.handle').all();
        const from = await first?.boundingBox();
        const to = await third?.boundingBox();
        if (!from || !to) throw new Error('a row has no handle');
        const loaded = page.waitForNavigation();
        await page.mouse.move(from.x + 4, from.y + 8);
        await page.mouse.down();
        await page.mouse.move(to.x + 4, to.y + 4, { steps: 40 });
        await page.mouse.move(to.x + 4, to.y + 2 * to.height, { steps: 20 });
        await page.mouse.up();
        await loaded;
        expect(await order(page)).toEqual(['processing.002', 'processing.003', 'processing.001']);
        await page.waitForSelector('li:nth-child(3) button:focus');
        expect(await auditPage(page)).toEqual([]);
        page.once('dialog', (dialog) => dialog.accept());
        await page.reload();
      },
      designer,
    ));

  it.each([
    ['en', true],
    ['fr', false],
    ['ar', true],
  ])('shows in %s what two people have changed, and takes what is chosen', (locale, javaScriptEnabled) =>
    inEditor(
      { locale, javaScriptEnabled },
      async (page) => {
        const other = await page.context().newPage();
        await other.goto(page.url());
        await other.click('button[value="add:processing.001"]');
        await other.waitForSelector('[name="elements"]', { state: 'attached' });
        await other.fill('[name="submitText-en"]', 'Send it now');
        await other.fill('[name="cancelText-en"]', 'Not today');
        await other.click('button.primary');
        await other.waitForURL(/done=formSaved/);
        await other.close();
        await page.fill('[name="submitText-en"]', 'Done');
        await page.click('button.primary');
        await page.waitForSelector('.theirs');
        expect(await page.locator('.theirs').allInnerTexts()).toEqual(['Send it now']);
        expect(await order(page)).toEqual(['processing.001']);
        expect(await page.inputValue('[name="cancelText-en"]')).toBe('Not today');
        expect(await page.inputValue('[name="submitText-en"]')).toBe('Done');
        if (javaScriptEnabled) expect(await auditPage(page, looksIn(locale))).toEqual([]);
        await page.click('button[value="take:submitText-en"]');
        await page.waitForSelector('.theirs', { state: 'detached' });
        expect(await page.inputValue('[name="submitText-en"]')).toBe('Send it now');
        await page.click('button.primary');
        await page.waitForURL(/done=formSaved/);
      },
      designer,
    ),
  );
});

describe('what was typed in an editor is there after the sign-in', () => {
  async function signInAgain(page: Page, username = 'admin'): Promise<void> {
    await page.fill('[name="username"]', username);
    await page.fill('[name="password"]', 'demo');
    await page.click('button[type="submit"]');
  }
  const save = (page: Page) => page.click('button.primary[name="op"][value="save"]');

  it.each([
    ['another tab has signed out', (page: Page) => signOutInAnotherTab(page)],
    ['the cookies were deleted', (page: Page) => page.context().clearCookies()],
  ])('if %s', (_when, endSession) =>
    inEditor({}, async (page) => {
      await page.fill('[name="en:title"]', 'A letter “each” month & more');
      await endSession(page);
      // The preview is renewed after the end as well, and says so in its frame.
      await page.fill('[name="en:usage"]', 'For letters');
      await shown(page).getByText('Your session has ended').first().waitFor();
      await save(page);
      await signInAgain(page);
      await page.waitForURL(/kept=[\w-]{22}/);
      expect(await page.inputValue('[name="en:title"]')).toBe('A letter “each” month & more');
      await page.getByText('it is not saved yet').waitFor();
      await save(page);
      await page.getByText('The draft is saved').first().waitFor();
      expect(await page.evaluate('sessionStorage.length')).toBe(0);
    }),
  );

  it('but not for another person', () =>
    inEditor({}, async (page) => {
      await page.fill('[name="en:title"]', 'A secret plan');
      await page.context().clearCookies();
      await save(page);
      await signInAgain(page, 'operator');
      await page.waitForURL(/kept=browser/);
      expect(await page.content()).not.toContain('A secret plan');
      expect(await page.evaluate('sessionStorage.length')).toBe(0);
    }));

  async function signOutInAnotherTab(page: Page): Promise<void> {
    const other = await page.context().newPage();
    await other.goto(`${instance.url}/console`);
    await other.getByRole('button', { name: 'Sign out' }).click();
    await other.waitForURL(/signed-out|logout|end/);
    await other.close();
  }
});
