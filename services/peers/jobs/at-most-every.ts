/**
 * Work that is wanted more often than it should be done: at once if it has not been done for a while, else once more when the time has come.
 * @param work never rejects.
 */
export function atMostEvery(ms: number, work: () => Promise<void>): { tell(): void; stop(): void } {
  let wanted = false;
  let busy = false;
  let stopped = false;
  let last = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  async function run(): Promise<void> {
    timer = undefined;
    wanted = false;
    busy = true;
    last = performance.now();
    await work();
    busy = false;
    if (wanted) plan();
  }

  function plan(): void {
    if (busy || stopped || timer) return;
    const wait = last + ms - performance.now();
    if (wait <= 0) return void run();
    timer = setTimeout(() => void run(), wait);
    timer.unref();
  }

  return {
    tell() {
      wanted = true;
      plan();
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
