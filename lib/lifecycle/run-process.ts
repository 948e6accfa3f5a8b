import { StartupError } from '#lib/lifecycle/startup-error.ts';
import { describeError } from '#lib/observability/describe-error.ts';

/** Something started that can be stopped, in its own order and time. */
export interface Running {
  stop(): Promise<void>;
}

const forcedExitMs = 25_000;

/**
 * Runs a process's start, and its stop on SIGTERM and SIGINT with exit 0. A start that fails says why in one sentence and
 * exits 1; a stop that hangs is cut off after 25 s (reliability.md, "Lifecycle").
 */
export async function runProcess(start: () => Promise<Running>): Promise<void> {
  let running: Running | undefined;
  let stopping = false;
  const stop = async () => {
    if (stopping) return;
    stopping = true;
    setTimeout(() => process.exit(1), forcedExitMs).unref();
    await running?.stop();
    process.exit(0);
  };
  let stopWanted = false;
  const onSignal = () => {
    stopWanted = true;
    if (running) void stop().catch(crash);
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  process.on('unhandledRejection', crash);
  process.on('uncaughtException', crash);
  try {
    running = await start();
  } catch (error) {
    const known = error instanceof StartupError;
    process.stderr.write(`${known ? error.message : told(error)}\n`);
    process.exit(1);
  }
  if (stopWanted) await stop();
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
