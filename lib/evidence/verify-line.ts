import { createHash } from 'node:crypto';
import type { JWK } from 'jose';
import { algorithmOf, canonicalKey, evidenceKey } from '#lib/evidence/evidence-keys.ts';
import { EvidenceFault, type ReadObject, requireCanonical, requireMembers } from '#lib/evidence/ndjson.ts';
import { createJwsVerifier, type VerifyJws } from '#lib/evidence/verify-jws.ts';
import type { FolderModels } from '#lib/evidence/verify-models.ts';
import {
  type FolderRecord,
  isTimeText,
  readRecords,
  type StatedReceipt,
  verifyImported,
  verifyReceiptTexts,
  verifyRecords,
} from '#lib/evidence/verify-records.ts';

export interface LineVerifierOptions {
  verify: VerifyJws;
  models: FolderModels | undefined;
  /** Is called with the key of each receipt of another instance. */
  onOtherKey: (kid: string) => void;
}

/** What a line of `records.ndjson` was found to have. */
export interface VerifiedLine {
  transaction: string;
  created: string;
  /** The receipt of this instance, with the SHA-256 of its JWS in hexadecimal. */
  receipt?: { state: 'proved' | 'erased'; digest: string };
  /** Answers of another system, which have no receipt of this instance. */
  imported?: { isVerified: boolean };
}

interface Line {
  subject: unknown;
  records: readonly FolderRecord[];
  place: string;
}

const members = [
  'transaction',
  'state',
  'subject',
  'created',
  'changed',
  'context',
  'records',
  'followers',
  'notices',
];
const receiptType = 'accord-consent-receipt+jws';

/** Verifies one line of `records.ndjson`. @throws EvidenceFault. */
export function createLineVerifier({
  verify,
  models,
  onOtherKey,
}: LineVerifierOptions): (read: ReadObject) => VerifiedLine {
  return (read) => {
    const { value, place } = read;
    const { transaction, subject, created, state, kind } = value;
    const records = readRecords(value.records, place);
    const line = { subject, records, place };
    const known = { transaction: String(transaction), created: String(created) };
    requireForm(read);
    const found = verifyProof();
    const proof = ['jws', 'erased', 'imported'].filter((name) => Object.hasOwn(value, name));
    if (proof.length > 1) throw new EvidenceFault(`${place}: both ${proof.join(' and ')}.`);
    requireMembers(read, [...members, ...proof, ...(kind === undefined ? [] : ['kind'])]);
    requireCanonical(read);
    return { ...known, ...found };

    function verifyProof(): Pick<VerifiedLine, 'receipt' | 'imported'> {
      if (value.jws !== undefined) {
        const receipt: StatedReceipt = verify(value.jws, { type: receiptType, place });
        if (receipt.transaction !== transaction)
          throw new EvidenceFault(`${place}: the receipt is of another transaction.`);
        requireCommitted(read, receipt.kind);
        verifyRecords(receipt, line);
        verifyReceiptTexts(receipt, { place, models });
        const digest = createHash('sha256').update(String(value.jws)).digest('hex');
        return { receipt: { state: 'proved', digest } };
      }
      if (value.erased !== undefined) {
        requireCommitted(read, kind);
        requireErased(line);
        return { receipt: { state: 'erased', digest: erasedDigest(value.erased, place) } };
      }
      if (value.imported !== undefined) {
        requireCommitted(read, 'IMPORT');
        return { imported: { isVerified: verifySource(value.imported, line, onOtherKey) } };
      }
      if (kind === 'IMPORT') {
        requireCommitted(read, kind);
        requireErased(line);
        return { imported: { isVerified: false } };
      }
      if (state === 'COMMITTED') throw missingReceipt(read);
      if (records.some((record) => record.state === 'COMMITTED'))
        throw new EvidenceFault(`${place}: a committed record without a receipt.`);
      return {};
    }
  };
}

/** The fault of a committed transaction without its receipt. */
export function missingReceipt({ value, place }: ReadObject): EvidenceFault {
  return new EvidenceFault(
    `${place}: the receipt of the transaction ${value.transaction} is missing: the instance had neither the receipt nor the digest of an erased one.`,
  );
}

const states = ['CREATED', 'SUBMITTED', 'COMMITTED', 'CANCELLED', 'TIMEOUT', 'ROLLBACK'];
const kinds = ['WITHDRAWAL', 'IMPORT', undefined];

function requireForm({ value, place }: ReadObject): void {
  const { state, kind, subject, created, changed, context, followers, notices } = value;
  const isWellFormed =
    [created, changed].every((time) => typeof time === 'string' && isTimeText(time)) &&
    states.includes(state as string) &&
    kinds.includes(kind as undefined) &&
    typeof subject === 'string' &&
    isObject(context) &&
    [followers, notices].every((list) => Array.isArray(list) && list.every(isObject));
  if (!isWellFormed) throw new EvidenceFault(`${place}: the line is not written as an export writes it.`);
}

function requireCommitted({ value, place }: ReadObject, kind: unknown): void {
  if (value.state !== 'COMMITTED' || value.kind !== kind)
    throw new EvidenceFault(`${place}: state and kind are not those of the answers.`);
}

/** After an erasure only what tells of no person is left. */
function requireErased({ subject, records, place }: Line): void {
  const isErased = ({ state, object, comment, author, endedBy }: FolderRecord) =>
    state === 'ERASED' && [object, comment, author, endedBy].every((member) => member === undefined);
  if (!String(subject).startsWith('erased:') || !records.every(isErased))
    throw new EvidenceFault(`${place}: not all is erased as the receipt is.`);
}

const ofSource = ['at', 'by', 'source', 'verified'];

/** @returns whether a receipt of another instance proves the answers. */
function verifySource(value: unknown, line: Line, onOtherKey: (kid: string) => void): boolean {
  const { place } = line;
  const source = objectOf(value, place);
  const { evidence, verified } = source;
  requireMembers(
    { value: source, text: '', place },
    evidence === undefined ? ofSource : [...ofSource, 'evidence'],
  );
  const { kind, value: proof, key } = evidence === undefined ? {} : objectOf(evidence, place);
  if (verified !== (kind === 'RECEIPT'))
    throw new EvidenceFault(`${place}: verified is not what the evidence says.`);
  if (evidence !== undefined)
    requireMembers(
      { value: objectOf(evidence, place), text: '', place },
      kind === 'RECEIPT' ? ['kind', 'value', 'key'] : ['kind', 'value'],
    );
  if (kind !== 'RECEIPT') return false;
  const jwk = evidenceKey(objectOf(key, place) as JWK);
  if (!jwk || canonicalKey(jwk) !== canonicalKey(key as JWK))
    throw new EvidenceFault(`${place}: the key is not one for signatures under its own thumbprint.`);
  const keys = new Map([[jwk.kid, { jwk, alg: algorithmOf(jwk) }]]);
  const verify = createJwsVerifier(keys, onOtherKey);
  const receipt: StatedReceipt = verify(proof, { type: receiptType, place });
  verifyImported(receipt, line);
  verifyReceiptTexts(receipt, { place, models: undefined });
  return true;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function objectOf(value: unknown, place: string): Record<string, unknown> {
  if (isObject(value)) return value;
  throw new EvidenceFault(`${place}: not what an export says of answers that were taken over.`);
}

/** @returns the digest that `GET /receipts/{txid}` states for an erased receipt, in hexadecimal. */
function erasedDigest(erased: unknown, place: string): string {
  const { sha256, ...more } = (erased ?? {}) as { sha256?: unknown };
  const digest = Buffer.from(String(sha256), 'base64url');
  if (digest.length !== 32 || digest.toString('base64url') !== sha256)
    throw new EvidenceFault(`${place}: the erased receipt has no SHA-256, so nothing shows its erasure.`);
  if (Object.keys(more).length > 0)
    throw new EvidenceFault(`${place}: the erased receipt has members that nothing proves.`);
  return digest.toString('hex');
}
