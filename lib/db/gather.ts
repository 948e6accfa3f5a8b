interface Waiting<Each> {
  each: Each;
  resolve: () => void;
  reject: (error: unknown) => void;
}

/**
 * Writes at once what comes alone, and together what comes within `ms` of it: so what is rare waits for nothing, and what comes in crowds
 * costs little.
 * @returns gives one to be written, and resolves when it has been.
 */
export function gather<Each>(
  ms: number,
  write: (all: Each[]) => Promise<void>,
): (each: Each) => Promise<void> {
  let waiting: Waiting<Each>[] = [];
  let next = Number.NEGATIVE_INFINITY;
  let isPlanned = false;

  function writeAll(): void {
    const all = waiting;
    waiting = [];
    isPlanned = false;
    next = performance.now() + ms;
    write(all.map(({ each }) => each)).then(
      () => {
        for (const { resolve } of all) resolve();
      },
      (error: unknown) => {
        for (const { reject } of all) reject(error);
      },
    );
  }

  return (each) =>
    new Promise((resolve, reject) => {
      waiting.push({ each, resolve, reject });
      if (isPlanned) return;
      const wait = next - performance.now();
      if (wait <= 0) return writeAll();
      isPlanned = true;
      setTimeout(writeAll, wait);
    });
}
