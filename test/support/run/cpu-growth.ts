/** CPU milliseconds below which a measurement is mostly noise. */
const noise = 8;

/** The least CPU time of this thread, in milliseconds, that some work has taken in three runs. */
export async function cpuOf(work: () => unknown): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < 3; run += 1) {
    const start = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(start);
    times.push((user + system) / 1000);
  }
  return Math.min(...times);
}

/**
 * How many times more CPU time an input of four times the size takes: about 4 if the cost is linear, 16 if it
 * is quadratic. The work runs once before it is measured, so that it is compiled.
 * @param size characters of the larger input.
 */
export async function growthOfFourfold(
  make: (length: number) => string,
  work: (input: string) => unknown,
  size: number,
): Promise<number> {
  const [small, large] = [make(size / 4), make(size)];
  await work(small);
  const least = await cpuOf(() => work(small));
  return (await cpuOf(() => work(large))) / Math.max(noise, least);
}

/** The growth above which a cost is not linear. */
export const maxGrowth = 9;
