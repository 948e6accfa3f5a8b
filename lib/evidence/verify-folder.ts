import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import canonicalize from 'canonicalize';
import type { JWK } from 'jose';
import type { SealedLine } from '#lib/audit/leaf.ts';
import { EvidenceFault, parseObject, readObjects } from '#lib/evidence/ndjson.ts';
import { createJwsVerifier, type VerifyJws } from '#lib/evidence/verify-jws.ts';
import { verifyLog } from '#lib/evidence/verify-log.ts';

/** What a folder of evidence was found to prove. */
export interface Findings {
  checkpoints: number;
  /** By area: lines in the file, lines that checkpoints cover, and blanked lines. */
  logs: Record<string, { lines: number; covered: number; blanked: number }>;
  receipts: {
    /** Signed, with the digest that the log has. */
    proved: number;
    /** Named as erased, with the digest that the log has; their text is gone. */
    erased: number;
    /** Signed, and not in the covered lines. */
    notLogged: number;
    /** In the log, and not looked for, because the folder has no `records.ndjson`. */
    notGiven: number;
  };
}

const auditFile = /^audit-([a-z]+)\.ndjson$/;

/**
 * Verifies an exported folder offline (docs/evidence.md, "How to check").
 * @param keysFile trusted keys from elsewhere; default: `keys.json` of the folder.
 * @param checkpointsFile further checkpoints, from elsewhere.
 * @throws EvidenceFault that names the first fault.
 */
export async function verifyFolder(
  folder: string,
  { keysFile, checkpointsFile }: { keysFile?: string | undefined; checkpointsFile?: string | undefined } = {},
): Promise<Findings> {
  const names = await readdir(folder);
  if (names.includes('manifest.json')) await verifyManifest(folder, names);
  const verify = createJwsVerifier(await readKeys(keysFile ?? path.join(folder, 'keys.json')));
  const files = [path.join(folder, 'checkpoints.ndjson'), ...(checkpointsFile ? [checkpointsFile] : [])];
  const { checkpoints, roots } = await verifyCheckpoints(files, verify);
  const receipts = names.includes('records.ndjson')
    ? await verifyReceipts(path.join(folder, 'records.ndjson'), verify)
    : undefined;
  const found = { proved: 0, erased: 0, notLogged: receipts?.size ?? 0, notGiven: 0 };
  const findReceipt = (line: SealedLine, place: string) => {
    if (line.action !== 'receipt.signed') return;
    const state = receipts ? stateOf(line, receipts, place) : 'notGiven';
    found[state] += 1;
    if (receipts) found.notLogged -= 1;
  };
  const logs: Findings['logs'] = {};
  const areas = [...roots.keys(), ...names.flatMap((name) => auditFile.exec(name)?.[1] ?? [])];
  for (const area of new Set(areas)) {
    const file = path.join(folder, `audit-${area}.ndjson`);
    const stated = roots.get(area);
    if (!stated) throw new EvidenceFault(`No checkpoint covers audit-${area}.ndjson.`);
    logs[area] = await verifyLog(file, stated, findReceipt);
  }
  return { checkpoints, logs, receipts: found };
}

/** The counts and digests of `manifest.json`, for every file of the folder. */
async function verifyManifest(folder: string, names: readonly string[]): Promise<void> {
  const text = await readFile(path.join(folder, 'manifest.json'), 'utf8');
  const { files } = parseObject(text, 'manifest.json') as {
    files?: Record<string, { sha256: string; lines: number }>;
  };
  const unlisted = names.find((name) => name !== 'manifest.json' && !files?.[name]);
  if (!files || unlisted) throw new EvidenceFault(`manifest.json does not list ${unlisted ?? 'files'}.`);
  for (const [name, { sha256, lines }] of Object.entries(files)) {
    if (!names.includes(name)) throw new EvidenceFault(`${name} of manifest.json is missing.`);
    const found = await digestFile(path.join(folder, name));
    if (found.sha256 !== sha256 || found.lines !== lines)
      throw new EvidenceFault(`${name} is not the file that manifest.json describes: it was changed.`);
  }
}

/** SHA-256 of a file in hexadecimal, and its line feeds. */
export async function digestFile(file: string): Promise<{ sha256: string; lines: number }> {
  const hash = createHash('sha256');
  let lines = 0;
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    hash.update(chunk);
    for (const byte of chunk) if (byte === 0x0a) lines += 1;
  }
  return { sha256: hash.digest('hex'), lines };
}

async function readKeys(file: string): Promise<JWK[]> {
  const name = path.basename(file);
  const text = await readFile(file, 'utf8').catch(() => {
    throw new EvidenceFault(`${name} is missing.`);
  });
  const { keys } = parseObject(text, name);
  if (!Array.isArray(keys) || keys.length === 0) throw new EvidenceFault(`${name} has no keys.`);
  return keys as JWK[];
}

interface Claims {
  iss: string;
  iat: number;
  logs: Record<string, { size: number; root: string }>;
}

/** @returns the roots that checkpoints state, by area and size of the tree. */
async function verifyCheckpoints(files: readonly string[], verify: VerifyJws) {
  const roots = new Map<string, Map<number, string>>();
  let checkpoints = 0;
  for await (const { value, place } of readAll(files)) {
    const claims = (await verify(value.jws, { type: 'accord-checkpoint+jwt', place })) as unknown as Claims;
    const isShown =
      canonicalize(value.logs) === canonicalize(claims.logs) &&
      Math.floor(Date.parse(String(value.at)) / 1000) === claims.iat;
    if (!isShown) throw new EvidenceFault(`${place}: the members are not those that were signed.`);
    checkpoints += 1;
    for (const [area, { size, root }] of Object.entries(claims.logs)) {
      const stated = roots.get(area) ?? new Map<number, string>();
      if ((stated.get(size) ?? root) !== root)
        throw new EvidenceFault(`${place}: another checkpoint has another root of ${size} lines of ${area}.`);
      roots.set(area, stated.set(size, root));
    }
  }
  if (checkpoints === 0) throw new EvidenceFault('checkpoints.ndjson has no checkpoint.');
  return { checkpoints, roots };
}

async function* readAll(files: readonly string[]) {
  for (const file of files) yield* readObjects(file);
}

/** A receipt of `records.ndjson`: SHA-256 of its JWS in hexadecimal. */
interface FoundReceipt {
  state: 'proved' | 'erased';
  digest: string;
}
/** By transaction. */
type Receipts = ReadonlyMap<string, FoundReceipt>;

async function verifyReceipts(file: string, verify: VerifyJws): Promise<Receipts> {
  const receipts = new Map<string, FoundReceipt>();
  for await (const { value, place } of readObjects(file)) {
    const transaction = String(value.transaction);
    if (value.missing === true)
      throw new EvidenceFault(
        `${place}: the receipt of the transaction ${transaction} is missing: the instance had neither the receipt nor the digest of an erased one.`,
      );
    if (value.erased !== undefined) {
      receipts.set(transaction, { state: 'erased', digest: erasedDigest(value.erased, place) });
      continue;
    }
    const receipt = await verify(value.jws, { type: 'accord-consent-receipt+jws', place });
    if (receipt.transaction !== transaction)
      throw new EvidenceFault(`${place}: the receipt is of another transaction.`);
    const digest = createHash('sha256').update(String(value.jws)).digest('hex');
    receipts.set(transaction, { state: 'proved', digest });
  }
  return receipts;
}

/** @returns the digest that `GET /receipts/{txid}` states for an erased receipt, in hexadecimal. */
function erasedDigest(erased: unknown, place: string): string {
  const { sha256 } = (erased ?? {}) as { sha256?: unknown };
  if (typeof sha256 !== 'string')
    throw new EvidenceFault(`${place}: the erased receipt has no SHA-256, so nothing shows its erasure.`);
  return Buffer.from(sha256, 'base64url').toString('hex');
}

function stateOf({ target, digest }: SealedLine, receipts: Receipts, place: string): FoundReceipt['state'] {
  const transaction = target.slice('transaction/'.length);
  const found = receipts.get(transaction);
  if (!found)
    throw new EvidenceFault(`${place}: records.ndjson lacks the receipt of the transaction ${transaction}.`);
  if (found.digest !== digest)
    throw new EvidenceFault(`${place}: the receipt of ${transaction} is not the one that was logged.`);
  return found.state;
}
