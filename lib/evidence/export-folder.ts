import { once } from 'node:events';
import { createWriteStream, type WriteStream } from 'node:fs';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { finished } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import canonicalize from 'canonicalize';
import type { JWK } from 'jose';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { StartupError } from '#lib/errors/fail.ts';
import { byThumbprint, evidenceKey } from '#lib/evidence/evidence-keys.ts';
import { writeManifest } from '#lib/evidence/manifest.ts';
import { inOrder } from '#lib/evidence/verify-cosignatures.ts';
import { readCompactJws } from '#lib/jose/jws.ts';

type Schemas = components['schemas'];
type Line = Schemas['AuditList']['values'][number];

interface Options {
  /** Base URL of the instance. */
  url: string;
  /** An access token of an administrator. */
  token: string;
  /** Must not exist, or be empty. */
  folder: string;
}

const pageSize = 200;
const maxAttempts = 10;
const maxWaitSeconds = 60;

/** How many lines and receipts were written, and how many receipts the instance lacks without an erasure. */
interface Exported {
  lines: number;
  receipts: number;
  missing: number;
}

/**
 * Writes what proves the audit logs into a folder: the lines up to the newest checkpoint, so that all of them
 * can be verified, with the receipts that they name (docs/evidence.md, "Export").
 * @throws StartupError.
 */
export async function exportFolder(options: Options): Promise<Exported> {
  const { folder } = options;
  await mkdir(folder, { recursive: true });
  if ((await readdir(folder)).length > 0) throw new StartupError(`${folder} is not empty.`);
  const used = new Set<string>();
  const heads = await exportCheckpoints(options, used);
  const exported = { lines: 0, receipts: 0, missing: 0 };
  await writeObjects(folder, 'records', async (writeReceipt) => {
    for (const [area, { size }] of Object.entries(heads))
      await writeObjects(folder, `audit-${area}`, async (writeLine) => {
        for await (const line of readLines(options, area, size)) {
          await writeLine(line);
          exported.lines += 1;
          if (!('action' in line) || line.action !== 'receipt.signed') continue;
          const receipt = await readReceipt(options, line.target.slice('transaction/'.length));
          await writeReceipt(receipt);
          if ('jws' in receipt) used.add(kidOf(receipt.jws));
          exported['missing' in receipt ? 'missing' : 'receipts'] += 1;
        }
      });
  });
  await writeKeys(options, used);
  await writeManifest(folder);
  return exported;
}

/** @returns the heads of the newest checkpoint. */
async function exportCheckpoints(
  options: Options,
  used: Set<string>,
): Promise<Schemas['Checkpoint']['logs']> {
  let newest: Schemas['Checkpoint'] | undefined;
  await writeObjects(options.folder, 'checkpoints', async (write) => {
    let cursor = '';
    do {
      const page = (await readJson(
        options,
        `/audit/checkpoints?limit=${pageSize}${cursor}`,
      )) as Schemas['CheckpointList'];
      newest ??= page.values[0];
      for (const { at, logs, jws, cosignatures } of page.values) {
        used.add(kidOf(jws));
        // Only what the signature covers: the time in seconds.
        const seconds = Math.floor(Date.parse(at) / 1000);
        await write({
          at: new Date(seconds * 1000).toISOString(),
          logs,
          jws,
          ...(cosignatures && { cosignatures: inOrder(cosignatures) }),
        });
      }
      cursor = page.next === undefined ? '' : `&cursor=${encodeURIComponent(page.next)}`;
    } while (cursor);
  });
  if (!newest) throw new StartupError('The instance has no checkpoint yet; try again in a minute.');
  return newest.logs;
}

async function* readLines(options: Options, area: string, size: number): AsyncGenerator<Line> {
  for (let from = 0; from < size; ) {
    const limit = Math.min(pageSize, size - from);
    const page = (await readJson(
      options,
      `/audit/${area}?from=${from}&limit=${limit}`,
    )) as Schemas['AuditList'];
    if (page.values.length === 0) throw new StartupError(`The log ${area} ends before its checkpoint.`);
    yield* page.values;
    from += page.values.length;
  }
}

type ExportedReceipt = { transaction: string } & (
  | { jws: string }
  | { erased: { sha256: string } }
  | { missing: true }
);

/** Only a response that states the digest of an erased receipt tells of an erasure. */
async function readReceipt(options: Options, transaction: string): Promise<ExportedReceipt> {
  const response = await request(options, `/receipts/${transaction}`, 'application/jose');
  if (response.ok) return { transaction, jws: await response.text() };
  const { erased } = (await response.json().catch(() => ({}))) as { erased?: { sha256?: unknown } };
  return typeof erased?.sha256 === 'string'
    ? { transaction, erased: { sha256: erased.sha256 } }
    : { transaction, missing: true };
}

async function readJson(options: Options, address: string): Promise<unknown> {
  const response = await request(options, address, 'application/json');
  if (response.ok) return response.json();
  await response.body?.cancel();
  throw new StartupError(`${address} was not found.`);
}

/** @returns a response with 2xx or 404. Waits and repeats while the instance is busy. */
async function request({ url, token }: Options, address: string, accept: string): Promise<Response> {
  for (let attempt = 1; ; attempt += 1) {
    const headers = { Authorization: `Bearer ${token}`, Accept: accept };
    const response = await fetch(new URL(address, url), { headers, redirect: 'error' }).catch(
      (cause: Error) => {
        throw new StartupError(`${url} does not answer: ${cause.message}`, { cause });
      },
    );
    if (response.ok || response.status === 404) return response;
    await response.body?.cancel();
    const isBusy = response.status === 429 || response.status === 503;
    if (!isBusy || attempt === maxAttempts)
      throw new StartupError(`${address.split('?')[0]} was answered with ${response.status}.`);
    const seconds = Number(response.headers.get('retry-after')) || 1;
    await wait(Math.min(seconds, maxWaitSeconds) * 1000);
  }
}

function kidOf(jws: string): string {
  return String(readCompactJws(jws)?.header.kid);
}

/** Writes the keys that have signed something in the folder, sorted by their thumbprints. */
async function writeKeys(options: Options, used: ReadonlySet<string>): Promise<void> {
  const { instance, jwks } = (await readJson(options, '/.well-known/accord')) as Schemas['Instance'];
  const keys = jwks.keys
    .flatMap((key) => evidenceKey(key as JWK) ?? [])
    .filter(({ kid }) => used.has(kid))
    .sort(byThumbprint);
  await writeFile(path.join(options.folder, 'keys.json'), `${canonicalize({ instance, keys })}\n`);
}

/** Writes objects into `<name>.ndjson`, one a line, each in its canonical form. */
async function writeObjects(
  folder: string,
  name: string,
  work: (write: (value: object) => Promise<void>) => Promise<void>,
): Promise<void> {
  const file: WriteStream = createWriteStream(path.join(folder, `${name}.ndjson`));
  const done = finished(file);
  try {
    await work(async (value) => {
      if (!file.write(`${canonicalize(value)}\n`)) await once(file, 'drain');
    });
  } finally {
    file.end();
    await done;
  }
}
