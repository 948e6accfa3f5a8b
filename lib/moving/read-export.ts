import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { StartupError } from '#lib/errors/fail.ts';
import { verifyManifest } from '#lib/evidence/manifest.ts';
import { readObjects } from '#lib/evidence/ndjson.ts';
import { leaveOut, type NotCarried } from '#lib/moving/not-carried.ts';
import { readReceiptFacts, rowsOfReceipt } from '#lib/moving/receipt-rows.ts';
import type { ImportSource, SourceItem } from '#lib/moving/source.ts';

/**
 * Rows of the receipts in a folder of `npm run export`, each with its receipt as evidence. The instance
 * verifies the signatures.
 * @param notCarried counts what is left out, while the rows are read.
 * @throws StartupError if the folder is no export; EvidenceFault for a file that was changed.
 */
export async function readExport(folder: string, notCarried: NotCarried): Promise<ImportSource> {
  const text = await readFile(path.join(folder, 'keys.json'), 'utf8').catch((cause: Error) => {
    throw new StartupError(`${folder} is no folder of npm run export: ${cause.message}`, { cause });
  });
  const { instance, keys } = JSON.parse(text) as { instance: string; keys: object[] };
  await verifyManifest(folder);
  return { keys: { keys: { keys } }, items: items() };

  async function* items(): AsyncGenerator<SourceItem> {
    for await (const { value, place } of readObjects(path.join(folder, 'records.ndjson'))) {
      if (typeof value.jws !== 'string') {
        leaveOut(notCarried, 'erased' in value ? 'erased receipts' : 'missing receipts');
        continue;
      }
      const receipt = readReceiptFacts(value.jws);
      const facts = { jws: value.jws, transaction: String(value.transaction), source: instance };
      if (!receipt) yield { place, fault: 'has no receipt' };
      else
        for (const { element, row } of rowsOfReceipt(receipt, facts, notCarried))
          yield { place: `${place}, ${element}`, row };
    }
  }
}
