/** Resolves when the work ends, however it ends, or after `ms`: what hangs must not keep a process from stopping. */
export async function atMost(ms: number, work: Promise<unknown> | undefined): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((done) => {
    timer = setTimeout(done, ms);
  });
  await Promise.race([
    Promise.resolve(work).then(
      () => {},
      () => {},
    ),
    late,
  ]);
  clearTimeout(timer);
}
