import type { Locator, Page } from 'playwright-core';
import { expect } from 'vitest';
import { type Reachable, signIn } from '../instances/callers.ts';
import type { OpenBrowser } from '../pages/use-browser.ts';
import { openWatchedPage } from '../pages/watched-page.ts';
import { enterConsole } from './walk-console.ts';

interface Model {
  id: string;
  key: string;
}

interface EditorOptions {
  /** Conditions or an e-mail; both have a rich text `body`. */
  type?: 'conditions' | 'email';
  browser?: Parameters<typeof openWatchedPage>[2];
}

/** The page of an editor, and what the API has stored. */
interface OpenedEditor {
  page: Page;
  /** The bodies of the draft, by language. */
  stored(): Promise<Record<string, string>>;
}

/** Creates an element with these bodies by language, as a draft. */
async function makeElement(instance: Reachable, type: string, bodies: Record<string, string>) {
  const { send } = await signIn(instance, 'admin');
  const model = (await (await send('POST', '/models', { type, name: 'Terms' })).json()) as Model;
  const [defaultLanguage = 'en'] = Object.keys(bodies);
  const data = Object.fromEntries(
    Object.entries(bodies).map(([language, body]) => [
      language,
      { [type === 'email' ? 'subject' : 'title']: 'Terms', body },
    ]),
  );
  const made = await send('POST', `/models/${model.id}/versions`, { defaultLanguage, data });
  expect(made.status).toBe(201);
  return model;
}

async function storedBodies(instance: Reachable, { id }: Model): Promise<Record<string, string>> {
  const { get } = await signIn(instance, 'admin');
  const { versions } = (await (await get(`/models/${id}`)).json()) as { versions: { id: string }[] };
  const version = (await (await get(`/models/${id}/versions/${versions[0]?.id}`)).json()) as {
    data: Record<string, { body: string }>;
  };
  return Object.fromEntries(Object.entries(version.data).map(([language, { body }]) => [language, body]));
}

/** Opens editors of elements with rich texts, and expects that no page does anything wrong. */
export function richEditors(instance: Reachable, browser: OpenBrowser) {
  return async (
    bodies: Record<string, string>,
    test: (opened: OpenedEditor) => Promise<void>,
    { type = 'conditions', browser: options = {} }: EditorOptions = {},
  ): Promise<void> => {
    const model = await makeElement(instance, type, bodies);
    const watched = await openWatchedPage(browser, [instance.url], { locale: 'en', ...options });
    try {
      const { page } = watched;
      await enterConsole(page, instance.url, 'admin');
      await page.goto(`${instance.url}/console/elements/${model.key}/edit`);
      await page.evaluate('window.executed = []').catch(() => undefined);
      // Pages with unsaved changes ask before they are closed or loaded again.
      page.on('dialog', (dialog) => void dialog.accept());
      await test({ page, stored: () => storedBodies(instance, model) });
      const complaints = await watched.complaints();
      expect(complaints.filter((each) => !each.startsWith('set the cookie'))).toEqual([]);
    } finally {
      await watched.close();
    }
  };
}

/** The textarea of a body. */
export const field = (page: Page, language = 'en') => page.locator(`[name="${language}:body"]`);
const box = (page: Page, language: string) => page.locator('.field', { has: field(page, language) });
/** The text editor of a body. */
export const text = (page: Page, language = 'en') => box(page, language).locator('.rich-text');
export const tool = (page: Page, name: string, language = 'en') =>
  box(page, language).getByRole('button', { name, exact: true });
export const isPressed = (button: Locator) => button.getAttribute('aria-pressed');

/** Pastes HTML as it comes from another program, where the focus is. */
export async function paste(page: Page, html: string): Promise<void> {
  await page.evaluate(`{
    const clipboardData = new DataTransfer();
    clipboardData.setData('text/html', ${JSON.stringify(html)});
    clipboardData.setData('text/plain', 'plain');
    const event = new ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true });
    document.activeElement.dispatchEvent(event);
  }`);
}

export async function saveDraft(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Save the draft' }).last().click();
  await page.waitForURL(/done=elementSaved/);
}
