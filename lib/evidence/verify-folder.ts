import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { readFolderKeys, readTrusted } from '#lib/evidence/evidence-keys.ts';
import { manifestName, verifyManifest } from '#lib/evidence/manifest.ts';
import { EvidenceFault } from '#lib/evidence/ndjson.ts';
import { openCheckpoints, readHeld } from '#lib/evidence/verify-checkpoints.ts';
import { type CosignatureCounter, createCosignatureCounter } from '#lib/evidence/verify-cosignatures.ts';
import { createJwsVerifier, type VerifyJws } from '#lib/evidence/verify-jws.ts';
import { createLogReader, type LogReader } from '#lib/evidence/verify-log.ts';
import { countMappings, mappingsName } from '#lib/evidence/verify-mappings.ts';
import { modelsName, readFolderModels } from '#lib/evidence/verify-models.ts';
import { openPages, type SignedPages, signaturesName } from '#lib/evidence/verify-pages.ts';
import { openReceipts, type ReceiptFindings, recordsName } from '#lib/evidence/verify-receipts.ts';

/** What a folder of evidence was found to prove. */
export interface Findings {
  instance: string;
  keys: {
    /** Thumbprints of the keys that signed. */
    kids: string[];
    /** Whether all of them are among keys or thumbprints from elsewhere. */
    areTrusted: boolean;
  };
  checkpoints: number;
  /** By area: lines in the file, all of which checkpoints cover, and blanked lines. */
  logs: Record<string, { lines: number; blanked: number }>;
  receipts: ReceiptFindings;
  /** Versions of models. */
  models: number;
  /** Mappings of AuthZEN. */
  mappings: number;
  /** Keys of other instances, whose receipts prove what was taken over. */
  others: { kids: string[]; areTrusted: boolean };
  witnesses: {
    /** Witnesses under the newest checkpoint, by area. */
    byArea: Record<string, number>;
    /** Whether only those count whose keys are from elsewhere. */
    areTrusted: boolean;
  };
}

export interface VerifyOptions {
  /** Trusted keys from elsewhere. */
  keysFile?: string | undefined;
  /** RFC 7638 thumbprints of trusted keys. */
  thumbprints?: readonly string[] | undefined;
  /** Further checkpoints, from elsewhere. */
  checkpointsFile?: string | undefined;
  /** ISO 8601: younger lines must not be blanked. Default: a line of any age may be. */
  retention?: string | undefined;
  /** Whether the folder is one without `records.ndjson`, and therefore without `manifest.json`. */
  withoutReceipts?: boolean | undefined;
  /** How many witnesses must have cosigned the newest head of each log. */
  witnesses?: number | undefined;
  /** Keys of witnesses from elsewhere; no others count then. */
  witnessKeys?: readonly string[] | undefined;
}

const auditFile = /^audit-([a-z]+)\.ndjson$/;

/**
 * Verifies an exported folder offline (docs/evidence.md, "How to check"): whatever it does not cover is a
 * fault. Time grows with the size of the folder; memory does not, except by its models and with checkpoints
 * from elsewhere.
 * @throws EvidenceFault that names the first fault.
 */
export async function verifyFolder(folder: string, options: VerifyOptions = {}): Promise<Findings> {
  const { keysFile, thumbprints = [], withoutReceipts = false } = options;
  const names = await listFiles(folder, withoutReceipts);
  if (names.includes(manifestName)) await verifyManifest(folder);
  const trusted = await readTrusted(keysFile, thumbprints);
  const { instance, keys } = await readFolderKeys(folder, trusted);
  const used = new Set<string>();
  const verify = createJwsVerifier(keys, (kid) => used.add(kid));
  const pages = openPages(folder, { instance, verify });
  const given = { names, pages, instance, verify };
  const found = await verifyFiles(folder, given, options).finally(() => pages.close());
  const idle = [...keys.keys()].find((kid) => !used.has(kid));
  if (idle) throw new EvidenceFault(`keys.json: the key ${idle} has signed nothing in this folder.`);
  if (!names.includes(manifestName) && !withoutReceipts)
    throw new EvidenceFault(`${manifestName} is missing.`);
  const { others, ...findings } = found;
  return {
    instance,
    keys: { kids: [...keys.keys()], areTrusted: trusted !== undefined },
    ...findings,
    others: {
      kids: [...others],
      areTrusted: trusted !== undefined && [...others].every((kid) => trusted.has(kid)),
    },
  };
}

interface Given {
  /** Of the files. */
  names: readonly string[];
  pages: SignedPages;
  instance: string;
  verify: VerifyJws;
}

type FileFindings = Omit<Findings, 'instance' | 'keys' | 'others'> & { others: ReadonlySet<string> };

async function verifyFiles(
  folder: string,
  { names, pages, instance, verify }: Given,
  options: VerifyOptions,
): Promise<FileFindings> {
  const { checkpointsFile, retention, withoutReceipts = false } = options;
  const held = checkpointsFile ? await readHeld(checkpointsFile, { instance, verify }) : undefined;
  const cosignatures = createCosignatureCounter(instance, options.witnessKeys);
  const checkpoints = await openCheckpoints(folder, { instance, verify, retention, cosignatures });
  const hasModels = !withoutReceipts || names.includes(modelsName);
  const models = hasModels
    ? await readFolderModels(pages.cover(path.join(folder, modelsName), ['models']))
    : undefined;
  const hasMappings = !withoutReceipts || names.includes(mappingsName);
  const mappings = hasMappings
    ? await countMappings(pages.cover(path.join(folder, mappingsName), ['mappings']))
    : 0;
  const others = new Set<string>();
  const onOtherKey = (kid: string) => others.add(kid);
  const records = pages.cover(path.join(folder, recordsName), ['receipts', 'others']);
  const receipts = openReceipts(records, { verify, models, onOtherKey, withoutReceipts });
  const logs = new Map<string, LogReader>();
  const logOf = (area: string): LogReader => {
    const name = `audit-${area}.ndjson`;
    const log = logs.get(area) ?? createLogReader(path.join(folder, name), name, receipts.ofLine(area));
    logs.set(area, log);
    return log;
  };
  try {
    const uncovered = names.find((name) => auditFile.test(name) && !checkpoints.newest[areaOf(name)]);
    if (uncovered) throw new EvidenceFault(`No checkpoint covers ${uncovered}.`);
    for await (const head of checkpoints.heads()) {
      for (const earlier of held?.upTo(head) ?? []) await logOf(head.area).readTo(earlier);
      await logOf(head.area).readTo(head);
    }
    held?.requireAllRead();
    requireWitnesses(cosignatures, options.witnesses ?? 0);
    const found: Findings['logs'] = {};
    for (const [area, log] of logs) found[area] = await log.finish();
    const receiptFindings = await receipts.finish(found.consents?.blanked ?? 0);
    await pages.finish(withoutReceipts);
    return {
      checkpoints: checkpoints.count() + (held?.count ?? 0),
      logs: found,
      receipts: receiptFindings,
      models: models?.versions ?? 0,
      mappings,
      others,
      witnesses: { byArea: cosignatures.latest(), areTrusted: options.witnessKeys !== undefined },
    };
  } finally {
    for (const log of logs.values()) await log.close();
    await receipts.close();
  }
}

/** @throws EvidenceFault that names the log with the fewest. */
function requireWitnesses({ latest, strangers }: CosignatureCounter, wanted: number): void {
  const [[area, count] = ['', wanted]] = Object.entries(latest()).sort(([, a], [, b]) => a - b);
  if (count >= wanted) return;
  const others = strangers()[area] ?? [];
  const because =
    others.length > 0
      ? `You did not give the keys of ${others.join(' and ')}, which cosigned it too.`
      : 'Witnesses sign within about a minute: export again later.';
  throw new EvidenceFault(
    `The newest head of ${area} is cosigned by ${count} of the ${wanted} witnesses that you ask for. ${because}`,
  );
}

function areaOf(name: string): string {
  return auditFile.exec(name)?.[1] ?? '';
}

const otherFiles = [
  ...['checkpoints.ndjson', 'keys.json'],
  ...[manifestName, modelsName, mappingsName, recordsName, signaturesName],
];

/** @throws EvidenceFault for what is not a file of an export. */
async function listFiles(folder: string, withoutReceipts: boolean): Promise<string[]> {
  const names = await readdir(folder);
  for (const name of names.sort()) {
    if (!(await lstat(path.join(folder, name))).isFile())
      throw new EvidenceFault(`${name} is not a regular file.`);
    if (!otherFiles.includes(name) && !auditFile.test(name))
      throw new EvidenceFault(`${name} is not a file of an export.`);
  }
  if (withoutReceipts && names.includes(recordsName))
    throw new EvidenceFault(`${recordsName} is there, and would not be verified.`);
  return names;
}
