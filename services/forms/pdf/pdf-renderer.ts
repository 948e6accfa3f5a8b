import { createHash } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { LRUCache } from 'lru-cache';
import { createKeyedLimiter } from '#lib/async/keyed-limiter.ts';
import { type Failure, fail } from '#lib/errors/fail.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { PrintJob } from './typesetter.ts';
import { compileTypesetter, type TypesetterProgram } from './typesetter-program.ts';
import type { WorkerReply } from './worker.ts';

/**
 * Renders PDF documents outside the event loop: in one worker thread, one after the other. Equal jobs are
 * done once, and the last documents are kept, because the same job always gives the same bytes.
 */
export interface PdfRenderer {
  /**
   * @param asker who waits for the document. Askers take turns, so that documents of one wait only for its
   * own.
   * @throws Failure `unavailable` with Retry-After if too many wait or the machine is busy; `not-acceptable`
   * if the page has too many elements, takes too long, or cannot be set, and for a poster with characters
   * that no font has.
   */
  render(job: PrintJob, asker: string): Promise<Buffer>;
  /** Ends the thread; jobs that wait fail. */
  stop(): Promise<void>;
}

interface Options {
  log: Logger;
  /** How many jobs may wait, besides the one that is being rendered; beyond it the longest line is cut. */
  maxWaiting?: number;
  /** How long one rendering may take; less than the time-out of internal calls. */
  limitMs?: number;
  /** The thread is replaced once it uses more bytes. */
  maxMemory?: number;
  /** The program of the thread. */
  program?: URL;
}

const ownProgram = new URL('worker.ts', import.meta.url);
/** Used in turn, so that retries are spread. */
const retryAfterSeconds = [1, 2, 3];
/** A document has about 50 KB. */
const maxKeptBytes = 16 * 2 ** 20;

/** The thread starts with the first job. If it dies or is replaced, the next job starts another. */
export function createPdfRenderer(options: Options): PdfRenderer {
  const { log, maxWaiting = 32, limitMs = 6_000, maxMemory = 64 * 2 ** 20, program = ownProgram } = options;
  const turns = createKeyedLimiter({ perKey: 1, total: 1, maxWaiting });
  const kept = new LRUCache<string, Buffer>({
    maxSize: maxKeptBytes,
    sizeCalculation: ({ length }) => length,
  });
  /** Jobs that wait or are being rendered. */
  const underWay = new Map<string, Promise<Buffer>>();
  const stopping = new AbortController();
  let compiled: Promise<TypesetterProgram> | undefined;
  let thread: Thread | undefined;
  let refusals = 0;

  function refuse(): Failure {
    refusals += 1;
    return fail('unavailable', 'The PDF cannot be created at the moment. Please try again.', {
      headers: { 'Retry-After': String(retryAfterSeconds[refusals % retryAfterSeconds.length]) },
      overload: true,
    });
  }

  /** Waits until the thread has ended, so that there is never more than one. */
  async function endThread(): Promise<void> {
    const ended = thread;
    thread = undefined;
    await ended?.worker.terminate();
  }

  async function run(job: PrintJob): Promise<Buffer> {
    compiled ??= compileTypesetter();
    const module = await compiled;
    if (stopping.signal.aborted) throw refuse();
    thread ??= startThread(program, module);
    let reply: WorkerReply;
    try {
      reply = await ask(thread, job, limitMs);
    } catch (error) {
      const isStarved = error instanceof TimedOut && (await hadNoTime(thread, limitMs));
      await endThread();
      if (stopping.signal.aborted || isStarved) throw refuse();
      log.error('the PDF thread failed; the next PDF starts another', { error });
      throw tooLong();
    }
    thread.cpuMs = reply.cpuMs;
    if (reply.memory > maxMemory) await endThread();
    const { pdf, isTooLong, notPrintable } = reply;
    if (isTooLong) throw tooLong();
    if (notPrintable) throw noFontHas(notPrintable);
    if (pdf) return Buffer.from(pdf.buffer, pdf.byteOffset, pdf.byteLength);
    log.error('a document cannot be typeset', { error: new Error(reply.error) });
    throw tooLong();
  }

  async function inTurn(job: PrintJob, asker: string): Promise<Buffer> {
    const leave = await turns.enter(asker, stopping.signal).catch(() => {
      throw refuse();
    });
    try {
      return await run(job);
    } finally {
      leave();
    }
  }

  return {
    async render(job, asker) {
      const id = idOf(job);
      const known = kept.get(id) ?? underWay.get(id);
      if (known) return known;
      const rendering = inTurn(job, asker).finally(() => underWay.delete(id));
      underWay.set(id, rendering);
      const pdf = await rendering;
      kept.set(id, pdf);
      return pdf;
    },
    async stop() {
      stopping.abort();
      await endThread();
    },
  };
}

/** A digest of all that a document is made from. */
function idOf({ logo, ...texts }: PrintJob): string {
  const digest = createHash('sha256').update(JSON.stringify([texts, logo?.extension]));
  return digest.update(logo?.body ?? '').digest('base64');
}

/** @returns the failure for a receipt that is not available as PDF; the other formats are. */
export function tooLong(): Failure {
  return fail(
    'not-acceptable',
    'This receipt is too long for a PDF, or too complex. Use text/html or text/plain.',
  );
}

function noFontHas(characters: string): Failure {
  return fail(
    'not-acceptable',
    `The poster cannot be printed: no font here has “${characters}”. Use the QR code of the form.`,
  );
}

class TimedOut extends Error {
  constructor(limitMs: number) {
    super(`no PDF within ${limitMs} ms`);
    this.name = 'TimedOut';
  }
}

interface Thread {
  worker: Worker;
  /** Resolves once the thread has died. */
  died: Promise<Error>;
  /** CPU time that the thread had used when its last job ended. */
  cpuMs: number;
}

/** Starts a thread that knows no settings and no secrets, and does not keep the process alive. */
function startThread(program: URL, workerData: TypesetterProgram): Thread {
  const worker = new Worker(program, {
    workerData,
    env: {},
    execArgv: [],
    // When the heap is full, Node.js adds 16 MB and ends the thread (`Worker::NearHeapLimit`). A collection
    // that promotes more than that ends the process; with a small young generation none does.
    resourceLimits: { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 8 },
  });
  worker.unref();
  const died = new Promise<Error>((resolve) => {
    worker.once('error', (error) => resolve(error as Error));
    worker.once('exit', (code) => resolve(new Error(`the PDF thread ended with ${code}`)));
  });
  return { worker, died, cpuMs: 0 };
}

/**
 * Whether a job that was not done in time had less than a quarter of the time on a processor: then the
 * machine is busy, and the job is worth repeating. A thread that does not reply had the time.
 */
async function hadNoTime({ worker, cpuMs }: Thread, limitMs: number): Promise<boolean> {
  const unknown = setTimeout(500, undefined, { ref: false });
  const usage = await Promise.race([worker.cpuUsage(), unknown]).catch(() => undefined);
  return usage !== undefined && (usage.user + usage.system) / 1000 - cpuMs < limitMs / 4;
}

/** @throws Error if the thread dies, or has not replied in time. */
function ask({ worker, died }: Thread, job: PrintJob, limitMs: number): Promise<WorkerReply> {
  return new Promise((resolve, reject) => {
    const timer = globalThis.setTimeout(() => reject(new TimedOut(limitMs)), limitMs);
    const settle = (reply: WorkerReply) => {
      clearTimeout(timer);
      resolve(reply);
    };
    worker.once('message', settle);
    void died.then((error) => {
      clearTimeout(timer);
      reject(error);
    });
    worker.postMessage(job);
  });
}
