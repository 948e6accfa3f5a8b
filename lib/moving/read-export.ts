import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { StartupError } from '#lib/errors/fail.ts';
import { verifyManifest } from '#lib/evidence/manifest.ts';
import { readObjects } from '#lib/evidence/ndjson.ts';
import { parseObject, readCompactJws } from '#lib/jose/jws.ts';
import type { ImportSource, SourceItem } from '#lib/moving/source.ts';

interface ReceiptFacts {
  subject: string;
  object?: string;
  author?: string;
  timestamp: string;
  expirationTimestamp?: string;
  kind?: string;
  information: { identifier: string };
  consents: {
    identifier: string;
    answer: string[];
    expirationTimestamp?: string;
    withdrawn?: string;
  }[];
  peers?: unknown[];
}

/** What the receipts of a folder state and cannot be taken over, by what it is. */
export type NotCarried = Map<string, number>;

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
    const leaveOut = (what: string) => notCarried.set(what, (notCarried.get(what) ?? 0) + 1);
    for await (const { value, place } of readObjects(path.join(folder, 'records.ndjson'))) {
      if (typeof value.jws !== 'string') {
        leaveOut('erased' in value ? 'erased receipts' : 'missing receipts');
        continue;
      }
      const [, payload = ''] = readCompactJws(value.jws)?.parts ?? [];
      const receipt = parseObject(Buffer.from(payload, 'base64url')) as ReceiptFacts | undefined;
      if (!receipt) yield { place, fault: 'has no receipt' };
      else {
        if (receipt.peers?.length) leaveOut('parts that peers keep');
        yield* rowsOf(receipt, { jws: value.jws, transaction: String(value.transaction), place }, leaveOut);
      }
    }
  }

  function* rowsOf(
    receipt: ReceiptFacts,
    { jws, transaction, place }: { jws: string; transaction: string; place: string },
    leaveOut: (what: string) => unknown,
  ): Generator<SourceItem> {
    const { subject, object, author, timestamp, expirationTimestamp, information, consents } = receipt;
    const [, , infoKey, informationSerial] = information.identifier.split('/');
    for (const { identifier, answer, withdrawn, ...consent } of consents) {
      // It was committed after a withdrawal, and never in force.
      if (withdrawn !== undefined) {
        leaveOut('consents that were withdrawn before they took effect');
        continue;
      }
      const [, type, element, serial] = identifier.split('/');
      const expires =
        type === 'conditions' ? null : (consent.expirationTimestamp ?? expirationTimestamp ?? null);
      const answered = { subject, element, serial, answer, given: timestamp, expires, author };
      const row = {
        ...answered,
        informationSerial,
        ...(object !== undefined && { object }),
        information: infoKey,
        source: instance,
        sourceId: `${transaction}/${element}`,
        evidence: { kind: 'RECEIPT', value: jws },
      };
      yield { place: `${place}, ${element}`, row };
    }
  }
}
