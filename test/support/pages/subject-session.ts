import type { BrowserContextOptions, Locator, Page } from 'playwright-core';
import { afterEach, expect } from 'vitest';
import { type Caller, signIn } from '../instances/callers.ts';
import { type TestInstance, useInstance, useSetup } from '../instances/instance.ts';
import { type OpenBrowser, useBrowser } from './use-browser.ts';
import { openWatchedPage, type WatchedPage } from './watched-page.ts';

/** An instance, its callers and a subject's browser, for all tests of a file. */
export interface SubjectSession {
  readonly instance: TestInstance;
  readonly browser: OpenBrowser;
  readonly operator: Caller;
  readonly admin: Caller;
  /** The page that was opened last. */
  readonly page: Page;
  /**
   * Opens a page in a new browser profile. @param strangers origins beside the instance's that may be asked.
   * @returns its status.
   */
  open(url: string, options?: BrowserContextOptions, strangers?: string[]): Promise<number | undefined>;
  /** A question of the form, or another group of the page. */
  question(name: string | RegExp): Locator;
  button(name: string): Locator;
  press(name: string): Promise<void>;
  /** Waits for the page with this title. */
  heading(name: string): Promise<void>;
  /** What a page tells back: each question with its answers, and when they were given. */
  answers(): Promise<string[][]>;
  /** The status of the post that a button sends. */
  statusAfter(name: string): Promise<number>;
}

/**
 * Registers the hooks that start and stop everything. After each test every page that it opened must have
 * been without an error, a request to strangers, a cookie and stored data.
 * @param environment settings of the instance.
 * @param tolerated complaints about pages that are not for subjects.
 */
export function subjectSession(
  environment: Record<string, string> = {},
  tolerated: readonly string[] = [],
): SubjectSession {
  const instance = useInstance(environment);
  const operator = useSetup(() => signIn(instance, 'operator'));
  const admin = useSetup(() => signIn(instance, 'admin'));
  const browser = useBrowser();
  let opened: WatchedPage[] = [];

  afterEach(async () => {
    const pages = opened;
    opened = [];
    const complaints = await Promise.all(pages.map((watched) => watched.complaints()));
    await Promise.all(pages.map((watched) => watched.close()));
    expect(complaints.flat().filter((each) => !tolerated.includes(each))).toEqual([]);
  });

  const session: SubjectSession = {
    instance,
    browser,
    operator,
    admin,
    get page() {
      return (opened.at(-1) as WatchedPage).page;
    },
    async open(url, options, strangers = []) {
      opened.push(await openWatchedPage(browser, [instance.url, ...strangers], options));
      return (await session.page.goto(url))?.status();
    },
    question: (name) => session.page.getByRole('group', { name }),
    button: (name) => session.page.getByRole('button', { name }),
    press: (name) => session.button(name).click(),
    heading: (name) => session.page.getByRole('heading', { name, level: 1 }).waitFor(),
    answers: () =>
      session.page.locator('.answers > div').evaluateAll((rows) =>
        rows.map((row) => {
          const shown = row as { innerText: string; querySelector(selector: string): typeof shown | null };
          const button = shown.querySelector('form')?.innerText ?? '';
          return shown.innerText.replace(button, '').trimEnd().split('\n');
        }),
      ),
    async statusAfter(name) {
      const [response] = await Promise.all([
        session.page.waitForResponse((reply) => reply.request().method() === 'POST'),
        session.press(name),
      ]);
      return response.status();
    },
  };
  return session;
}
