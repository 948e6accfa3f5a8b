import { expect, onTestFinished, test, vi } from 'vitest';
import { watchEventLoop } from '#lib/observability/metrics.ts';

function standStill(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test('a loop that stands still is late while it does, and is forgiven when it runs again', async () => {
  const loop = watchEventLoop();
  onTestFinished(loop.stop);
  const before = loop.read();
  standStill(500);
  const late = loop.read();
  expect(late).toBeGreaterThan(before + 50);
  await vi.waitFor(() => expect(loop.read()).toBeLessThan(late / 2), { timeout: 10_000, interval: 50 });
});
