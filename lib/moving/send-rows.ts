import { createWriteStream } from 'node:fs';
import { finished } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { StartupError } from '#lib/errors/fail.ts';
import type { ImportSource } from '#lib/moving/source.ts';

type Result = components['schemas']['ImportResult'];

/** The instance that takes the rows over. */
export interface Target {
  url: string;
  /** An access token of an administrator, which may be asked for again when it has expired. */
  token: (isExpired: boolean) => Promise<string>;
}

interface Options {
  isDryRun: boolean;
  /** File for the rows that were rejected; undefined: they are only counted. */
  rejectedFile?: string | undefined;
  onProgress: (counts: ImportCounts) => void;
  onRejected: (place: string, why: string) => void;
}

export interface ImportCounts {
  rows: number;
  created: number;
  unchanged: number;
  rejected: number;
}

/** What a request may have, with room for the keys and for line breaks (openapi.yaml, `importRecords`). */
const maxRows = 5_000;
const maxBytes = 7 * 1024 * 1024;
const maxAttempts = 20;
const maxWaitSeconds = 60;

/**
 * Sends rows in requests of up to 5,000, one after the other, and never holds more than one in memory.
 * Repeating it is safe: rows that were taken over before are `unchanged`.
 * @throws StartupError if the instance refuses a request, or does not answer.
 */
export async function sendRows(
  target: Target,
  source: ImportSource,
  options: Options,
): Promise<ImportCounts> {
  const counts: ImportCounts = { rows: 0, created: 0, unchanged: 0, rejected: 0 };
  const rejected = createRejected(options.rejectedFile, source.keys);
  const head = source.keys ? `${JSON.stringify(source.keys)}\n` : '';
  let chunk: { place: string; line: string }[] = [];
  let bytes = head.length;
  const reject = (place: string, why: string, line?: string) => {
    counts.rejected += 1;
    options.onRejected(place, why);
    if (line !== undefined) rejected.write(line);
  };
  const flush = async () => {
    if (chunk.length === 0) return;
    const result = await post(target, head + chunk.map(({ line }) => line).join('\n'), options.isDryRun);
    counts.created += result.created;
    counts.unchanged += result.unchanged;
    for (const [row, faults] of Map.groupBy(result.errors, (error) => error.row)) {
      const { place, line } = chunk[row - 1] as { place: string; line: string };
      reject(
        place,
        faults.map(({ pointer, code, detail }) => `${pointer} ${code}: ${detail}`).join('; '),
        line,
      );
    }
    options.onProgress(counts);
    chunk = [];
    bytes = head.length;
  };
  try {
    for await (const item of source.items) {
      counts.rows += 1;
      if ('fault' in item) {
        reject(item.place, item.fault);
        continue;
      }
      const line = JSON.stringify(item.row);
      const length = Buffer.byteLength(line) + 1;
      if (chunk.length === maxRows || bytes + length > maxBytes) await flush();
      chunk.push({ place: item.place, line });
      bytes += length;
    }
    await flush();
  } finally {
    await rejected.close();
  }
  return counts;
}

/** Writes the rows to be corrected and sent again; the file is made with the first of them. */
function createRejected(file: string | undefined, keys: object | undefined) {
  let stream: ReturnType<typeof createWriteStream> | undefined;
  return {
    write(line: string) {
      if (file === undefined) return;
      if (!stream) {
        stream = createWriteStream(file);
        if (keys) stream.write(`${JSON.stringify(keys)}\n`);
      }
      stream.write(`${line}\n`);
    },
    async close() {
      if (!stream) return;
      stream.end();
      await finished(stream);
    },
  };
}

/** Waits and repeats while the instance is busy or away. */
async function post(target: Target, body: string, isDryRun: boolean): Promise<Result> {
  let isExpired = false;
  for (let attempt = 1; ; attempt += 1) {
    const response = await attemptPost(target, body, { isDryRun, isExpired });
    if (response?.ok) return (await response.json()) as Result;
    const status = response?.status;
    const said = await response?.text();
    isExpired = status === 401 && !isExpired;
    const isBusy = status === undefined || status === 429 || status === 503 || isExpired;
    if (!isBusy || attempt === maxAttempts)
      throw new StartupError(
        status === undefined
          ? `${target.url} does not answer. Run the import again to go on.`
          : `The import was answered with ${status}: ${said} Run it again to go on.`,
      );
    const seconds = Number(response?.headers.get('retry-after')) || 1;
    if (!isExpired) await wait(Math.min(seconds, maxWaitSeconds) * 1000);
  }
}

async function attemptPost(
  { url, token }: Target,
  body: string,
  { isDryRun, isExpired }: { isDryRun: boolean; isExpired: boolean },
): Promise<Response | undefined> {
  const headers = {
    Authorization: `Bearer ${await token(isExpired)}`,
    'Content-Type': 'application/x-ndjson',
  };
  const address = new URL(`/records/import${isDryRun ? '?dryRun=true' : ''}`, url);
  return fetch(address, { method: 'POST', headers, body, redirect: 'error' }).catch(() => undefined);
}
