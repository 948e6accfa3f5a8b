import type { Browser, BrowserContext } from 'playwright-core';
import { afterAll, beforeAll } from 'vitest';
import { launchChromium } from './chromium.ts';

/** What tests do with a browser that they do not close. */
export interface OpenBrowser extends Pick<Browser, 'newContext' | 'newPage'> {
  /** Calls `listener` with the profile that is opened next. */
  once(event: 'context', listener: (context: BrowserContext) => void): unknown;
}

/** Chromium is started once for all files of this process, and ends with the process. */
let started: Promise<Browser> | undefined;

async function start(): Promise<Browser> {
  const browser = await launchChromium();
  browser.once('disconnected', () => {
    started = undefined;
  });
  return browser;
}

/**
 * Gives the tests of a file a browser, and closes the profiles and pages that they opened in it.
 * @returns the browser, usable in tests and later hooks.
 */
export function useBrowser(): OpenBrowser {
  let browser: Browser | undefined;
  const opened = () => browser as Browser;
  beforeAll(async () => {
    started ??= start();
    browser = await started;
  });
  afterAll(async () => {
    await Promise.all(browser?.contexts().map((context) => context.close()) ?? []);
  });
  return {
    newContext: (options) => opened().newContext(options),
    newPage: (options) => opened().newPage(options),
    once: (event, listener) => opened().once(event, listener),
  };
}
