import { readlinkSync } from 'node:fs';
import { setPriority } from 'node:os';
import path from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { PageTooLong } from './page-size.ts';
import { createTypesetter, NotPrintable, type PrintJob } from './typesetter.ts';
import type { TypesetterProgram } from './typesetter-program.ts';

/** The reply of the worker thread to a job of pdf-renderer.ts, which sends one job at a time. */
export interface WorkerReply {
  pdf?: Uint8Array;
  error?: string;
  /** The error is that the page has too many elements. */
  isTooLong?: boolean;
  /** The error is that no font has these characters of a poster. */
  notPrintable?: string;
  /** Bytes of memory in use besides fonts that not all documents need. It never shrinks. */
  memory: number;
  /** CPU time that the thread has used so far. */
  cpuMs: number;
}

lowerPriority();
const typesetter = await createTypesetter(workerData as TypesetterProgram);

parentPort?.on('message', async (job: PrintJob) => {
  const reply: WorkerReply = { memory: 0, cpuMs: 0 };
  try {
    reply.pdf = await typesetter.render(job);
  } catch (error) {
    reply.isTooLong = error instanceof PageTooLong;
    if (error instanceof NotPrintable) reply.notPrintable = error.characters;
    reply.error = error instanceof Error ? error.message : String(error);
  }
  reply.memory = typesetter.memory();
  const { user, system } = process.threadCpuUsage();
  reply.cpuMs = (user + system) / 1000;
  parentPort?.postMessage(reply);
});

/**
 * Lowers the priority of this thread, so that requests are served before PDFs are made. Only Linux has a
 * priority for each thread (setpriority(2)).
 */
function lowerPriority(): void {
  if (process.platform !== 'linux') return;
  setPriority(Number(path.basename(readlinkSync('/proc/thread-self'))), 5);
}
