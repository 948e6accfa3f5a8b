import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import canonicalize from 'canonicalize';
import type { JWK } from 'jose';
import { StartupError } from '#lib/errors/fail.ts';
import { byThumbprint, evidenceKey } from '#lib/evidence/evidence-keys.ts';
import { inOrder } from '#lib/evidence/verify-cosignatures.ts';
import { readCompactJws } from '#lib/jose/jws.ts';
import type { Schemas } from '#lib/models/models-api.ts';
import { type ExportFiles, openExportFiles } from '#lib/moving/export-files.ts';
import type { InstanceClient } from '#lib/moving/instance-client.ts';

type Line = Schemas['RecordsExportLine'];

const pageSize = 200;

/** What was written. */
export interface Exported {
  /** Of the logs. */
  lines: number;
  /** Transactions with a receipt, or an erased one, that the log has. */
  receipts: number;
  /** Receipts that the instance lacks without an erasure. */
  missing: number;
  /** Transactions without a line of the log. */
  others: number;
}

/** Where an export is written, and from where. */
interface Exporting {
  source: InstanceClient;
  files: ExportFiles;
}

/**
 * Writes everything that an instance has about answers, with what proves them, into a folder
 * (docs/evidence.md, "Export"): the logs up to the newest checkpoint, so that all lines can be verified, the
 * receipts that they name, the other transactions, the models, and the mappings of AuthZEN, with the
 * signatures of the instance. An export that was stopped goes on.
 * @throws StartupError.
 */
export async function exportFolder({
  source,
  folder,
}: {
  source: InstanceClient;
  folder: string;
}): Promise<Exported> {
  await requireAdministrator(source);
  const { instance, jwks } = await source.read<Schemas['Instance']>('/.well-known/accord');
  const files = await openExportFiles(folder, instance);
  const { progress } = files;
  try {
    await exportCheckpoints({ source, files });
    await exportModels({ source, files });
    await exportMappings({ source, files });
    for (const area of Object.keys(progress.heads)) await exportLog({ source, files }, area);
    await exportOthers({ source, files });
    // Keys of later checkpoints are not needed.
    const keys = jwks.keys
      .flatMap((key) => evidenceKey(key as JWK) ?? [])
      .filter(({ kid }) => progress.kids.includes(kid))
      .sort(byThumbprint);
    await writeFile(path.join(folder, 'keys.json'), `${canonicalize({ instance, keys })}\n`);
    await files.finish();
  } finally {
    await files.close();
  }
  const lines = Object.values(progress.heads).reduce((sum, { size }) => sum + size, 0);
  return { lines, ...progress.counts };
}

/** Receipts as they were signed have the links of people: only administrators get them (docs/roles.md). */
async function requireAdministrator(source: InstanceClient): Promise<void> {
  const { roles } = await source.read<Schemas['User']>('/user');
  if (roles.includes('admin')) return;
  throw new StartupError(
    `An export needs the credential of an administrator, because it has the receipts as they were signed, with the links of people. The role of this one is ${roles.join(', ')}. An auditor compares receipts one by one, on the page Receipts of the console.`,
  );
}

async function exportCheckpoints({ source, files }: Exporting): Promise<void> {
  const { progress } = files;
  while (progress.checkpoints !== null) {
    const cursor = progress.checkpoints === '' ? '' : `&cursor=${encodeURIComponent(progress.checkpoints)}`;
    const { values, next } = await source.read<Schemas['CheckpointList']>(
      `/audit/checkpoints?limit=${pageSize}${cursor}`,
    );
    const [newest] = values;
    if (!newest) throw new StartupError('The instance has no checkpoint yet; try again in a minute.');
    if (progress.checkpoints === '') progress.heads = newest.logs;
    for (const { at, logs, jws, cosignatures } of values) {
      noteKey(files, jws);
      // Only what the signature covers: the time in seconds.
      const seconds = Math.floor(Date.parse(at) / 1000);
      const covered = { at: new Date(seconds * 1000).toISOString(), logs, jws };
      await files.write('checkpoints', {
        ...covered,
        ...(cosignatures && { cosignatures: inOrder(cosignatures) }),
      });
    }
    progress.checkpoints = next ?? null;
    await files.save();
  }
}

async function exportModels({ source, files }: Exporting): Promise<void> {
  const { progress } = files;
  while (progress.models !== null) {
    const query = progress.models === '' ? '' : `&cursor=${encodeURIComponent(progress.models)}`;
    const page = await source.read<Schemas['ModelsExport']>(address('/records/export/models', files, query));
    for (const model of page.values) await files.write('models', model);
    await writeSignature(files, page.signature);
    progress.models = page.next ?? null;
    await files.save();
  }
}

/** The first mapping that fits decides, so their order is kept. */
async function exportMappings({ source, files }: Exporting): Promise<void> {
  const { progress } = files;
  if (progress.mappings) return;
  const { mappings, signature } = await source.read<Schemas['StoredAccessMappings']>(
    `/access/mappings?exportId=${progress.id}`,
  );
  for (const mapping of mappings) await files.write('access-mappings', mapping);
  await writeSignature(files, signature);
  progress.mappings = true;
  await files.save();
}

/** The log of consents is written together with the transactions whose receipts it names. */
async function exportLog({ source, files }: Exporting, area: string): Promise<void> {
  const { progress } = files;
  const { size = 0 } = progress.heads[area] ?? {};
  for (let from = progress.lines[area] ?? 0; from < size; from = progress.lines[area] ?? size) {
    const limit = Math.min(pageSize, size - from);
    const { values } = await source.read<Schemas['AuditList']>(`/audit/${area}?from=${from}&limit=${limit}`);
    if (values.length === 0) throw new StartupError(`The log ${area} ends before its checkpoint.`);
    const until = from + values.length;
    const receipts = values.flatMap((line) =>
      'action' in line && line.action === 'receipt.signed' ? [line.target.slice('transaction/'.length)] : [],
    );
    for (const line of values) await files.write(`audit-${area}`, line);
    if (receipts.length > 0) await exportLogged({ source, files }, receipts, { from, until });
    progress.lines[area] = until;
    await files.save();
  }
}

async function exportLogged(
  { source, files }: Exporting,
  transactions: readonly string[],
  { from, until }: { from: number; until: number },
): Promise<void> {
  const found: string[] = [];
  let receipts = 0;
  let query: string | undefined = `&logged=true&from=${from}&to=${until}`;
  while (query !== undefined) {
    const { values, next, signature } = await readPage({ source, files }, query);
    for (const line of values) {
      found.push(line.transaction);
      if (line.jws || line.erased) receipts += 1;
      await writeTransaction(files, line);
    }
    if (values.length > 0) await writeSignature(files, signature);
    query = next && `&cursor=${encodeURIComponent(next)}`;
  }
  if (found.some((transaction) => !transactions.includes(transaction)))
    throw new StartupError('The log has changed meanwhile. Run the program again to go on.');
  files.progress.counts.receipts += receipts;
  files.progress.counts.missing += transactions.length - receipts;
}

/** Transactions without a line in the log, oldest first. */
async function exportOthers({ source, files }: Exporting): Promise<void> {
  const { progress } = files;
  while (progress.others !== null) {
    const query = progress.others === '' ? '&logged=false' : `&cursor=${encodeURIComponent(progress.others)}`;
    const { values, next, signature } = await readPage({ source, files }, query);
    for (const line of values) await writeTransaction(files, line);
    await writeSignature(files, signature);
    progress.counts.others += values.length;
    progress.others = next ?? null;
    await files.save();
  }
}

function readPage({ source, files }: Exporting, query: string): Promise<Schemas['RecordsExport']> {
  return source.read<Schemas['RecordsExport']>(address('/records/export', files, query));
}

function address(path: string, { progress: { id } }: ExportFiles, query: string): string {
  return `${path}?limit=${pageSize}&exportId=${id}${query}`;
}

async function writeTransaction(files: ExportFiles, line: Line): Promise<void> {
  if (line.jws) noteKey(files, line.jws);
  await files.write('records', line);
}

/** Pages are signed in the order in which their lines are written. */
async function writeSignature(files: ExportFiles, jws: string | undefined): Promise<void> {
  if (jws === undefined) throw new StartupError('The instance does not sign what it exports.');
  noteKey(files, jws);
  await files.write('signatures', { jws });
}

function noteKey({ progress: { kids } }: ExportFiles, jws: string): void {
  const kid = String(readCompactJws(jws)?.header.kid);
  if (!kids.includes(kid)) kids.push(kid);
}
