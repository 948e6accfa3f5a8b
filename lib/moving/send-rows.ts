import { setTimeout as wait } from 'node:timers/promises';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { StartupError } from '#lib/errors/fail.ts';
import type { Access } from '#lib/moving/instance-client.ts';
import { createRejectedFile } from '#lib/moving/rejected-file.ts';
import type { ImportSource, Original, SourceItem } from '#lib/moving/source.ts';

type Result = components['schemas']['ImportResult'];

interface Options {
  isDryRun: boolean;
  /** File for the rows that were rejected; undefined: they are only counted. */
  rejectedFile?: string | undefined;
  pace: Pace;
  onProgress: (counts: ImportCounts) => void;
  onRejected: (place: string, why: string) => void;
}

export interface ImportCounts {
  rows: number;
  created: number;
  unchanged: number;
  rejected: number;
}

/** How rows are divided into requests. */
interface Pace {
  /** Of a request, at most 5,000 (openapi.yaml, `importRecords`). */
  rows: number;
  /** The pause between two requests, as a multiple of the duration of the first. */
  pause: number;
}

/**
 * `gentle` leaves two thirds of the time to the people who answer meanwhile, and stays below the usual limit
 * of requests of a user (`RATE_LIMITS`); `full` is for an instance without users (ADR 41).
 */
export const paces = { gentle: { rows: 400, pause: 2 }, full: { rows: 5_000, pause: 0 } } as const;

/** Of a request, with room for the keys and for line breaks (openapi.yaml, `importRecords`). */
const maxBytes = 7 * 1024 * 1024;
const maxAttempts = 20;
const maxWaitSeconds = 60;

/** What is sent together: rows, with faults between them, in the order of the source. */
interface Chunk {
  items: ({ place: string; original: Original | undefined } & (
    | { line: string }
    | { fault: string; isTold: boolean }
  ))[];
  rows: number;
  bytes: number;
}

/**
 * Sends rows in requests, one after the other, and never holds more than one in memory.
 * Repeating it is safe: rows that were taken over before are `unchanged`.
 * @throws StartupError if the instance refuses a request, or does not answer.
 */
export async function sendRows(
  target: Access,
  source: ImportSource,
  options: Options,
): Promise<ImportCounts> {
  const { pace } = options;
  const counts: ImportCounts = { rows: 0, created: 0, unchanged: 0, rejected: 0 };
  const rejected = createRejectedFile(options.rejectedFile, source);
  const head = source.keys ? `${JSON.stringify(source.keys)}\n` : '';
  let pauseMs = 0;
  const emptyChunk = (): Chunk => ({ items: [], rows: 0, bytes: head.length });
  let chunk = emptyChunk();

  async function flush(): Promise<void> {
    if (chunk.items.length === 0) return;
    const rows = chunk.items.flatMap((item) => ('line' in item ? [item] : []));
    const errors: Result['errors'] = [];
    if (rows.length > 0) {
      const body = head + rows.map(({ line }) => line).join('\n');
      await wait(pauseMs);
      const began = performance.now();
      const result = await post(target, body, options.isDryRun);
      pauseMs = pace.pause * (performance.now() - began);
      counts.created += result.created;
      counts.unchanged += result.unchanged;
      errors.push(...result.errors);
    }
    const byRow = Map.groupBy(errors, ({ row }) => rows[row - 1]);
    for (const item of chunk.items) {
      const line = 'line' in item ? item.line : undefined;
      const why = 'fault' in item ? item.fault : sayErrors(byRow.get(item));
      if (why === undefined) continue;
      counts.rejected += 1;
      if ('line' in item || item.isTold) options.onRejected(item.place, why);
      rejected.write(line, item.original);
    }
    options.onProgress(counts);
    chunk = emptyChunk();
  }

  async function add(item: SourceItem): Promise<void> {
    const { place, original } = item;
    if ('row' in item && options.isDryRun && source.isPrepared?.(item.row)) {
      counts.rows += 1;
      counts.created += 1;
      return;
    }
    const line = 'row' in item ? JSON.stringify(item.row) : undefined;
    const length = Buffer.byteLength(line ?? original?.text ?? '') + 1;
    if (chunk.items.length >= 2 * pace.rows || chunk.rows === pace.rows || chunk.bytes + length > maxBytes)
      await flush();
    counts.rows += 1;
    if (line !== undefined) {
      chunk.items.push({ place, original, line });
      chunk.rows += 1;
    } else if ('fault' in item)
      chunk.items.push({ place, original, fault: item.fault, isTold: item.isTold ?? true });
    chunk.bytes += length;
  }

  try {
    for await (const item of source.items) await add(item);
    await flush();
  } finally {
    await rejected.close();
  }
  return counts;
}

function sayErrors(errors: Result['errors'] | undefined): string | undefined {
  return errors?.map(({ pointer, code, detail }) => `${pointer} ${code}: ${detail}`).join('; ');
}

/** Waits and repeats while the instance is busy or away. */
async function post(target: Access, body: string, isDryRun: boolean): Promise<Result> {
  let isExpired = false;
  for (let attempt = 1; ; attempt += 1) {
    const response = await attemptPost(target, body, { isDryRun, isExpired });
    if (response?.ok) return (await response.json()) as Result;
    const status = response?.status;
    const said = await response?.text();
    isExpired = status === 401 && !isExpired;
    const isBusy = status === undefined || status === 429 || status === 503 || isExpired;
    if (status !== undefined && !isBusy)
      throw new StartupError(`${target.url} refused the import with ${status}: ${said}`);
    if (attempt === maxAttempts)
      throw new StartupError(
        `${target.url} ${status === undefined ? 'does not answer' : `is busy (${status})`}. Run the import again to go on.`,
      );
    const seconds = Number(response?.headers.get('retry-after')) || 1;
    if (!isExpired) await wait(Math.min(seconds, maxWaitSeconds) * 1000);
  }
}

async function attemptPost(
  { url, headers }: Access,
  body: string,
  { isDryRun, isExpired }: { isDryRun: boolean; isExpired: boolean },
): Promise<Response | undefined> {
  const all = { ...(await headers(isExpired)), 'Content-Type': 'application/x-ndjson' };
  const address = new URL(`/records/import${isDryRun ? '?dryRun=true' : ''}`, url);
  return fetch(address, { method: 'POST', headers: all, body, redirect: 'error' }).catch(() => undefined);
}
