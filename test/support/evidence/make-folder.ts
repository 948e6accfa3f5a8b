import { createHash, generateKeyPairSync } from 'node:crypto';
import canonicalize from 'canonicalize';
import type { JWK } from 'jose';
import { leafOf } from '#lib/audit/leaf.ts';
import { appendLeaf, emptyFrontier, rootOf } from '#lib/audit/merkle-tree.ts';
import { byThumbprint, evidenceKey } from '#lib/evidence/evidence-keys.ts';
import { pageType } from '#lib/evidence/signed-page.ts';
import { createCompactJws, createEs256 } from '#lib/jose/jws.ts';
import type { FolderFiles } from './folder-files.ts';
import {
  makeErasedLine,
  makeLine,
  makeModels,
  makeOthers,
  makeReceipt,
  makeRecords,
} from './make-records.ts';
import { signPages } from './sign-pages.ts';

/** A signing key, and what it signs. */
export interface Signer {
  jwk: JWK & { kid: string };
  checkpoint(claims: object): string;
  receipt(body: object): string;
  page(statement: object): string;
}

export function createSigner(): Signer {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const jwk = evidenceKey(publicKey.export({ format: 'jwk' }) as JWK) as Signer['jwk'];
  const sign = createEs256(privateKey.export({ format: 'jwk' }) as JWK);
  const make = (typ: string) => {
    const compact = createCompactJws({ alg: 'ES256', typ, kid: jwk.kid }, sign);
    return (payload: object) => compact(JSON.stringify(payload));
  };
  return {
    jwk,
    checkpoint: make('accord-checkpoint+jwt'),
    receipt: make('accord-consent-receipt+jws'),
    page: make(pageType),
  };
}

export const madeInstance = 'https://consent.example.org';
const write = (value: unknown) => `${canonicalize(value)}\n`;

/** A log that grows. */
export function createLog() {
  const tree = emptyFrontier();
  return {
    /** @returns the line as the export writes it. */
    add(members: { action: string; target: string; digest?: string }): string {
      const seq = tree.size;
      const id = `0197a202-1210-7c44-9e53-${String(seq).padStart(12, '0')}`;
      const at = new Date(1_700_000_000_000 + seq * 60_000).toISOString();
      const line = { seq, id, at, actor: 'user:operator', actorKind: 'user', ...members };
      appendLeaf(tree, leafOf(line));
      return write(line);
    },
    head: () => ({ size: tree.size, root: rootOf(tree).toString('hex') }),
  };
}

/** The text of a checkpoint as the export writes it. */
export function writeCheckpoint(signer: Signer, iat: number, logs: object, iss = madeInstance): string {
  const jws = signer.checkpoint({ iss, iat, logs });
  return write({ at: new Date(iat * 1000).toISOString(), logs, jws });
}

/** A folder as it is exported, with what it was made of. */
export interface MadeFolder {
  files: FolderFiles;
  signers: [Signer, Signer];
  /** Whose receipts prove what was taken over. */
  other: Signer;
  /** Newest first. */
  checkpoints: string[];
  /** What the newest checkpoint says. */
  newest: { iat: number; logs: Record<'auth' | 'consents' | 'forms', { size: number; root: string }> };
}

/** A transaction with its line in the log and its line in the export. */
function makeTransaction(signer: Signer, log: ReturnType<typeof createLog>, round: number, count: number) {
  const transaction = `transaction-${round}-${count}`;
  const made = {
    transaction,
    at: new Date(1_700_000_000_000 + (round * 10 + count) * 60_000),
    answers: {
      'element/processing/processing.001/1.0': count === 2 ? 'refused' : 'accepted',
      ...(count !== 2 && { 'element/processing/processing.002/1.0': 'refused' }),
    },
    ...(count === 2 && { kind: 'WITHDRAWAL' as const }),
    ...(count === 1 && { object: 'card 1' }),
  };
  const jws = signer.receipt(makeReceipt(made));
  const sha = createHash('sha256').update(jws);
  const digest = sha.copy().digest('hex');
  const isErased = round === 1;
  return {
    lines: [
      log.add({ action: 'receipt.signed', target: `transaction/${transaction}`, digest }),
      log.add({ action: 'records.read', target: `transaction/${transaction}` }),
    ].join(''),
    record: isErased
      ? makeErasedLine(made, sha.digest('base64url'))
      : makeLine(made, { jws, records: makeRecords(made) }),
  };
}

/** A folder with three areas, a rotation of keys, receipts, some of them erased, and five checkpoints. */
export function makeFiles(): MadeFolder {
  const signers: [Signer, Signer] = [createSigner(), createSigner()];
  const other = createSigner();
  const logs = { auth: createLog(), consents: createLog(), forms: createLog() };
  const lines = { auth: '', consents: '', forms: '' };
  const checkpoints: string[] = [];
  let records = '';
  const heads = () => ({ auth: logs.auth.head(), consents: logs.consents.head(), forms: logs.forms.head() });
  const timeOf = (round: number) => 1_760_000_000 + round * 40_000_000;
  for (let round = 0; round < 5; round += 1) {
    const signer = signers[round < 2 ? 0 : 1];
    for (const area of ['auth', 'forms'] as const)
      for (let count = 0; count < 3; count += 1)
        lines[area] += logs[area].add({
          action: 'account.created',
          target: `account/${area}-${round}-${count}`,
        });
    for (let count = 0; count < 3; count += 1) {
      const made = makeTransaction(signer, logs.consents, round, count);
      lines.consents += made.lines;
      records += made.record;
    }
    checkpoints.unshift(writeCheckpoint(signer, timeOf(round), heads()));
  }
  const unsigned = {
    'access-mappings.ndjson': ['send', 'pay', 'write']
      .map((action) => write({ action, element: 'processing.001', when: { 'resource.id': '7' } }))
      .join(''),
    'audit-auth.ndjson': lines.auth,
    'audit-consents.ndjson': lines.consents,
    'audit-forms.ndjson': lines.forms,
    'checkpoints.ndjson': checkpoints.join(''),
    'keys.json': write({ instance: madeInstance, keys: signers.map(({ jwk }) => jwk).sort(byThumbprint) }),
    'models.ndjson': makeModels(),
    'records.ndjson': records + makeOthers(other),
  };
  const files = signPages(unsigned, signers[1]);
  return { files, signers, other, checkpoints, newest: { iat: timeOf(4), logs: heads() } };
}
