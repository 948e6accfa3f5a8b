import { setTimeout as wait } from 'node:timers/promises';
import { settleWithin } from '#lib/async/timing.ts';
import { StartupError } from '#lib/errors/fail.ts';
import type { Listener } from '#lib/http/listen.ts';
import type { Probes } from '#lib/http/probes.ts';
import { describeError } from '#lib/observability/logger.ts';
import type { OwnedRuntime } from '#lib/runtime/create-runtime.ts';

/** A running process or service. */
export interface Running {
  stop(): Promise<void>;
}

const forcedExitMs = 25_000;

/**
 * Starts a process, and stops it with exit code 0 on SIGTERM and SIGINT. A failed start prints the reason and
 * exits with 1; a stop that hangs is ended after 25 s (docs/reliability.md).
 * @param start its signal aborts when the process is told to stop meanwhile.
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
    process.stderr.write(`${known ? error.message : describeFully(error)}\n`);
    process.exit(1);
  }
  if (stopWanted.signal.aborted) await stop();
}

/** Nothing is secret yet at start, so the whole error is printed. */
function describeFully(error: unknown): string {
  return (error instanceof Error && error.stack) || String(error);
}

/** Prints only where the error happened, because its message may quote answers (docs/security.md). */
function crash(error: unknown): never {
  const place = JSON.stringify(describeError(error)) ?? typeof error;
  process.stderr.write(`The process exits because of an unexpected error: ${place}\n`);
  process.exit(1);
}

/** The parts of a process to stop; those not started yet are absent. */
export interface ProcessParts {
  probes: Probes;
  /** The public address. */
  front?: Listener;
  /** The internal port. */
  internal?: Listener;
  service?: { stop(): Promise<void> };
  runtime?: OwnedRuntime;
}

/**
 * With STOP_DELAY (5 s, at most 10) all steps together rarely take the 25 s after which the process is ended.
 */
const drainMs = 10_000;
/**
 * Running deliveries may finish; then they are aborted and left to other replicas. A relay has 3 s of its
 * own.
 */
const workMs = 8_000;
const endMs = 5_000;

/**
 * Stops a process in order: not ready, a delay for routers to notice, consumers, requests, outbox, the rest
 * (docs/reliability.md). Each step is bounded. Another replica takes over unfinished work, because nothing is
 * acknowledged before it is in PostgreSQL.
 */
export async function stopParts(parts: ProcessParts, delayMs: number): Promise<void> {
  const { probes, front, internal, service, runtime } = parts;
  probes.stopping();
  front?.closeConnections();
  internal?.closeConnections();
  runtime?.shared.pacer?.stop();
  if (delayMs > 0) await wait(delayMs);
  await Promise.all([front?.close(drainMs), settleWithin(drainMs, runtime?.stopReading())]);
  // Last, because other services that stop at the same time may still need it for their requests.
  await internal?.close(endMs);
  await settleWithin(workMs, service?.stop());
  await settleWithin(endMs, runtime?.stop());
}
