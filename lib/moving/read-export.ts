import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { JWK } from 'jose';
import { StartupError } from '#lib/errors/fail.ts';
import { verifyManifest } from '#lib/evidence/manifest.ts';
import { EvidenceFault, readObjects } from '#lib/evidence/ndjson.ts';
import { mappingsName } from '#lib/evidence/verify-mappings.ts';
import { modelsName } from '#lib/evidence/verify-models.ts';
import type { Schemas } from '#lib/models/models-api.ts';
import { bringMappings } from '#lib/moving/bring-mappings.ts';
import {
  type BroughtModels,
  bringModels,
  type ModelHistory,
  namesBrought,
  sayBrought,
} from '#lib/moving/bring-models.ts';
import { leaveOut, type NotCarried } from '#lib/moving/not-carried.ts';
import { readReceiptFacts, rowsOfReceipt } from '#lib/moving/receipt-rows.ts';
import type { ImportSource, SourceItem } from '#lib/moving/source.ts';

type Line = Schemas['RecordsExportLine'];
type Row = Readonly<Record<string, unknown>>;

interface Options {
  isDryRun: boolean;
  /** Counts what is left out, while the rows are read. */
  notCarried: NotCarried;
  /** Says what was done. */
  say: (line: string) => void;
}

/**
 * Models and answers in a folder of `npm run export`: answers with a receipt have it as evidence, and those
 * that the instance had taken over keep their source and evidence. The instance verifies the signatures.
 * @throws StartupError if the folder is no export; EvidenceFault for a file that was changed.
 */
export async function readExport(
  folder: string,
  { isDryRun, notCarried, say }: Options,
): Promise<ImportSource> {
  const text = await readFile(path.join(folder, 'keys.json'), 'utf8').catch((cause: Error) => {
    throw new StartupError(`${folder} is no folder of npm run export: ${cause.message}`, { cause });
  });
  const { instance, keys } = JSON.parse(text) as { instance: string; keys: JWK[] };
  await verifyManifest(folder);
  const others = await readOtherKeys(folder);
  let brought: BroughtModels | undefined;
  return {
    keys: { keys: { keys: [...keys, ...others] } },
    items: items(),
    async prepare(target) {
      const options = { from: instance, isDryRun, notCarried };
      brought = await bringModels(target, readModels(folder), options);
      sayBrought(brought, { isDryRun, say });
      await bringMappings(target, await readMappings(folder), { isDryRun, notCarried, say });
    },
    isPrepared: (row) => brought !== undefined && namesBrought(brought, row),
  };

  async function* items(): AsyncGenerator<SourceItem> {
    for await (const line of readLines(folder)) {
      const { value, place } = line;
      for (const row of rowsOf(value, instance, notCarried))
        yield 'fault' in row ? { place, ...row } : { place: `${place}, ${row.row.element}`, ...row };
    }
  }
}

async function* readLines(folder: string): AsyncGenerator<{ value: Line; place: string }> {
  for await (const { value, place } of readObjects(path.join(folder, 'records.ndjson'))) {
    if (!isLine(value)) throw new EvidenceFault(`${place}: not a transaction of an export.`);
    yield { value, place };
  }
}

function isLine(value: object): value is Line {
  const { transaction, records }: Partial<Line> = value;
  return typeof transaction === 'string' && Array.isArray(records);
}

async function* readModels(folder: string): AsyncGenerator<ModelHistory> {
  for await (const { value, place } of readObjects(path.join(folder, modelsName))) {
    if (!isModel(value)) throw new EvidenceFault(`${place}: not a model of an export.`);
    yield value;
  }
}

async function readMappings(folder: string): Promise<Schemas['AccessMapping'][]> {
  const mappings: Schemas['AccessMapping'][] = [];
  for await (const { value } of readObjects(path.join(folder, mappingsName))) mappings.push(value);
  return mappings;
}

function isModel(value: object): value is ModelHistory {
  const { key, type, versions }: Partial<ModelHistory> = value;
  return [key, type].every((text) => typeof text === 'string') && Array.isArray(versions);
}

/** Keys of the receipts that the instance had taken over as evidence. */
async function readOtherKeys(folder: string): Promise<JWK[]> {
  const found = new Map<string, JWK>();
  for await (const { value } of readLines(folder)) {
    const key = value.imported?.evidence?.key;
    if (key) found.set(key.kid, key as JWK);
  }
  return [...found.values()];
}

/** Rows of the answers of a transaction. */
function rowsOf(line: Line, instance: string, notCarried: NotCarried): ({ row: Row } | { fault: string })[] {
  const { transaction, jws, imported, records, state } = line;
  if (jws !== undefined) {
    const receipt = readReceiptFacts(jws);
    if (!receipt) return [{ fault: 'has no receipt' }];
    const detailsOf = (element: string) => {
      const record = records.find((each) => keyOf(each.element) === element);
      return record && { ...informationOf(record), ...(record.comment && { comment: record.comment }) };
    };
    return rowsOfReceipt(receipt, { jws, transaction, source: instance, detailsOf }, notCarried);
  }
  if (imported) return records.map((record) => ({ row: rowOf(line, record) }));
  const [isErased, isMissing] = [line.erased || line.kind === 'IMPORT', state === 'COMMITTED'];
  leaveOut(
    notCarried,
    isErased
      ? 'erased transactions'
      : isMissing
        ? 'missing receipts'
        : 'transactions without answers in force',
  );
  return [];
}

type FolderRecord = Line['records'][number];

const keyOf = (identifier: string) => identifier.split('/')[2] ?? '';

function informationOf({ information }: FolderRecord): { information: string; informationSerial: string } {
  const [, , key = '', serial = ''] = information.split('/');
  return { information: key, informationSerial: serial };
}

/** The row that the instance had taken over. */
function rowOf({ subject, imported }: Line, record: FolderRecord): Row {
  const { element, answers, author, comment, object, committed, expires, sourceId } = record;
  const { source, evidence } = imported ?? {};
  return {
    subject,
    element: keyOf(element),
    serial: element.split('/')[3],
    answer: answers,
    given: committed,
    expires: expires ?? null,
    ...(author !== subject && { author }),
    ...(object !== undefined && { object }),
    ...(comment !== undefined && { comment }),
    ...informationOf(record),
    source,
    sourceId,
    ...(evidence && { evidence: { kind: evidence.kind, value: evidence.value } }),
  };
}
