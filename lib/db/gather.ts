interface Waiting<Each, Result> {
  each: Each;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/**
 * Writes at once what comes alone, and together what comes while something is being written, or within `ms` of when that began: so what is
 * rare waits for nothing, and what comes in crowds costs little.
 * @param write resolves with a result for each that it was given, in their order, if there are any.
 * @returns gives one to be written, and resolves when it has been.
 */
export function gather<Each, Result = void>(
  ms: number,
  write: (all: Each[]) => Promise<readonly Result[]> | Promise<void>,
): (each: Each) => Promise<Result> {
  let waiting: Waiting<Each, Result>[] = [];
  let next = Number.NEGATIVE_INFINITY;
  let isBusy = false;

  async function writeAll(): Promise<void> {
    // What comes in the same turn of the event loop comes together.
    await undefined;
    const all = waiting;
    waiting = [];
    next = performance.now() + ms;
    try {
      const results = (await write(all.map(({ each }) => each))) ?? [];
      for (const [index, { resolve }] of all.entries()) resolve(results[index] as Result);
    } catch (error) {
      for (const { reject } of all) reject(error);
    }
    isBusy = false;
    if (waiting.length > 0) plan();
  }

  function plan(): void {
    if (isBusy) return;
    isBusy = true;
    const wait = next - performance.now();
    if (wait > 0) setTimeout(writeAll, wait);
    else void writeAll();
  }

  return (each) =>
    new Promise((resolve, reject) => {
      waiting.push({ each, resolve, reject });
      plan();
    });
}
