import type { Browser, CDPSession } from 'playwright-core';
import { enterConsole } from '../test/support/console/walk-console.ts';
import { launchChromium } from '../test/support/pages/chromium.ts';

/** A slow phone: 1.6 Mbit/s, 150 ms for a round trip, a quarter of this machine's processor. */
const network = { offline: false, latency: 150, downloadThroughput: 200_000, uploadThroughput: 100_000 };
const slowerCpu = 4;
const timesEach = 3;

/** Milliseconds to the largest contentful paint of a page, cold and with files from the browser's cache. */
export interface PaintTimes {
  cold: number[];
  warm: number[];
}

/**
 * Opens pages of the console in Chromium as a slow phone would.
 * @param pages paths. @returns times by path.
 */
export async function measurePaints(
  baseUrl: string,
  pages: readonly string[],
): Promise<ReadonlyMap<string, PaintTimes>> {
  const browser = await launchChromium();
  try {
    const times = new Map<string, PaintTimes>();
    for (const page of pages) times.set(page, await measurePage(browser, baseUrl + page));
    return times;
  } finally {
    await browser.close();
  }
}

async function measurePage(browser: Browser, url: string): Promise<PaintTimes> {
  const times: PaintTimes = { cold: [], warm: [] };
  const context = await browser.newContext({ viewport: { width: 360, height: 740 } });
  try {
    const page = await context.newPage();
    await enterConsole(page, new URL(url).origin, 'admin');
    const session = await context.newCDPSession(page);
    await session.send('Network.enable');
    await session.send('Network.emulateNetworkConditions', network);
    await session.send('Emulation.setCPUThrottlingRate', { rate: slowerCpu });
    for (let time = 0; time < timesEach; time += 1) {
      await session.send('Network.clearBrowserCache');
      times.cold.push(await paintOf(session, () => page.goto(url, { waitUntil: 'load' })));
      times.warm.push(await paintOf(session, () => page.goto(url, { waitUntil: 'load' })));
    }
    return times;
  } finally {
    await context.close();
  }
}

/** @returns when the largest element was painted, counted from the navigation. */
async function paintOf(session: CDPSession, open: () => Promise<unknown>): Promise<number> {
  await open();
  const { result } = await session.send('Runtime.evaluate', {
    awaitPromise: true,
    expression: `new Promise((done) => {
      new PerformanceObserver((list) => done(list.getEntries().at(-1).startTime))
        .observe({ type: 'largest-contentful-paint', buffered: true });
    })`,
  });
  return Number(result.value);
}
