import { StartupError } from '#lib/errors/fail.ts';
import { describeError } from '#lib/observability/logger.ts';

/** Something started that can be stopped, in its own order and time. */
export interface Running {
  stop(): Promise<void>;
}

const forcedExitMs = 25_000;

/**
 * Runs a process's start, and its stop on SIGTERM and SIGINT with exit 0. A start that fails says why in one sentence and
 * exits 1; a stop that hangs is cut off after 25 s (reliability.md, "Lifecycle").
 * @param start is told by its signal when it is in vain.
 */
export async function runProcess(start: (signal: AbortSignal) => Promise<Running>): Promise<void> {
  let running: Running | undefined;
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    await running?.stop();
    process.exit(0);
  };
  const stopWanted = new AbortController();
  const onSignal = () => {
    if (!stopWanted.signal.aborted) setTimeout(() => process.exit(1), forcedExitMs).unref();
    stopWanted.abort();
    if (running) void stop().catch(crash);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  process.on('unhandledRejection', crash);
  process.on('uncaughtException', crash);
  try {
    running = await start(stopWanted.signal);
  } catch (error) {
    if (stopWanted.signal.aborted) process.exit(0);
    const known = error instanceof StartupError;
    process.stderr.write(`${known ? error.message : told(error)}\n`);
    process.exit(1);
  }
  if (stopWanted.signal.aborted) await stop();
}

/** At start nobody's data are at hand yet, and whoever starts the process needs every word. */
function told(error: unknown): string {
  return (error instanceof Error && error.stack) || String(error);
}

/** A message may quote what somebody answered: the place of the fault has to do (security.md, "Assets and rules"). */
function crash(error: unknown): never {
  const place = JSON.stringify(describeError(error)) ?? typeof error;
  process.stderr.write(`The process stops because of a fault of its own: ${place}\n`);
  process.exit(1);
}
