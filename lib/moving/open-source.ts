import { stat } from 'node:fs/promises';
import path from 'node:path';
import { StartupError } from '#lib/errors/fail.ts';
import { readSource } from '#lib/moving/access.ts';
import { readGics } from '#lib/moving/gics/read-gics.ts';
import { createInstanceClient } from '#lib/moving/instance-client.ts';
import { readInterface } from '#lib/moving/interface/read-interface.ts';
import { readMapping } from '#lib/moving/mapping.ts';
import type { NotCarried } from '#lib/moving/not-carried.ts';
import { readExport } from '#lib/moving/read-export.ts';
import { readMapped } from '#lib/moving/read-mapped.ts';
import { readNdjson } from '#lib/moving/read-ndjson.ts';
import type { ImportSource } from '#lib/moving/source.ts';

/** What is imported, as the arguments of `npm run import` say. */
export interface Wanted {
  from: string | undefined;
  /** Files or a folder. */
  inputs: string[];
  url: string | undefined;
  mapping: string | undefined;
  /** Of the texts of a gICS file. */
  language: string | undefined;
  isDryRun: boolean;
  notCarried: NotCarried;
  environment: Record<string, string | undefined>;
  say: (line: string) => void;
}

/** @returns undefined if the arguments do not fit together. */
export async function openSource(wanted: Wanted): Promise<ImportSource | undefined> {
  const { inputs, url, mapping } = wanted;
  const kind = wanted.from ?? (await kindOf(wanted));
  if (kind === 'interface') {
    if (url === undefined || inputs.length > 0) return undefined;
    return readInterface(createInstanceClient(readSource(url, wanted.environment)), wanted);
  }
  const [input, ...more] = inputs;
  if (input === undefined || url !== undefined) return undefined;
  if (kind === 'gics') return readGics(inputs, { ...wanted, language: wanted.language ?? 'de' });
  if (more.length > 0) return undefined;
  if (kind === 'export') return readExport(input, wanted);
  if (kind === 'ndjson') return readNdjson(input);
  if (kind !== 'csv') return undefined;
  if (mapping === undefined) throw new StartupError('A table needs --mapping (docs/moving.md, "Tables").');
  return readMapped(input, await readMapping(mapping));
}

async function kindOf({ inputs: [input], mapping }: Wanted): Promise<string | undefined> {
  if (input === undefined) return undefined;
  const found = await stat(input).catch((cause: Error) => {
    throw new StartupError(`${input} cannot be read: ${cause.message}`, { cause });
  });
  return found.isDirectory() ? 'export' : mapping === undefined ? 'ndjson' : 'csv';
}

/** The name of the file for rejected rows, in the format of the source. */
export function rejectedName({ inputs: [input] }: Pick<Wanted, 'inputs'>, isTable: boolean): string {
  return `${input === undefined ? 'interface' : path.basename(input)}.rejected.${isTable ? 'csv' : 'ndjson'}`;
}
