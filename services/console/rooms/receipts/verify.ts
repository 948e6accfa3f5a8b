import { createHash } from 'node:crypto';
import {
  calculateJwkThumbprint,
  compactVerify,
  createLocalJWKSet,
  decodeProtectedHeader,
  type JWK,
} from 'jose';
import type { Context } from 'koa';
import type { Schemas } from '../../api/api-types.ts';
import { findRow } from '../../pages/list-page.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { findReceipt } from '../../people/find-transaction.ts';

type Receipt = Schemas['Receipt'];

/**
 * `on-record`: signed by this instance, and the one on record. `replaced`: signed by this instance, and not
 * on record. `of-peer`: signed with a pinned key of a peer. `changed`: the signature does not fit the text.
 * `keys-needed`: a pinned key of a peer signed it, and its public keys were not given.
 * `unknown-key`: neither this instance nor a peer has the key. `unreadable`: no signed receipt at all.
 */
export type Outcome =
  | 'on-record'
  | 'replaced'
  | 'of-peer'
  | 'changed'
  | 'keys-needed'
  | 'unknown-key'
  | 'unreadable';

export interface Verdict {
  outcome: Outcome;
  /** Name of the instance that signed, as far as it is known. */
  signer: string;
  /** Absent unless the signature is valid. */
  receipt?: Receipt;
  /** SHA-256 of the signed receipt, as the audit log and GET /receipts say it; with a receipt alone. */
  sha256?: string;
}

const type = 'accord-consent-receipt+jws';
const algorithms = ['ES256', 'EdDSA'];
/** Longer than any receipt that was signed here. */
const maxCharacters = 2_000_000;

/**
 * Verifies a pasted receipt (compact JWS, RFC 7515) with the published keys of this instance, or with a
 * peer's. Headers of the JWS name no key but by `kid`.
 * @param given.keys of a peer, as JSON: a JWK Set, or its self-description. Only pinned ones are used.
 */
export async function verifyReceipt(
  ctx: Context,
  tools: RoomTools,
  given: { jws: string; keys: string },
): Promise<Verdict> {
  const jws = given.jws.replaceAll(/\s/g, '');
  const verdict = await verdictOf(ctx, tools, jws, given.keys);
  return verdict.receipt ? { ...verdict, sha256: createHash('sha256').update(jws).digest('hex') } : verdict;
}

async function verdictOf(ctx: Context, tools: RoomTools, jws: string, givenKeys: string): Promise<Verdict> {
  const kid = kidOf(jws);
  if (!kid) return { outcome: 'unreadable', signer: '' };
  const { body: instance } = await tools.api(ctx).call('getInstance');
  if (instance.jwks.keys.some((key) => key.kid === kid)) {
    const receipt = await open(jws, instance.jwks.keys as JWK[]);
    if (!receipt) return { outcome: 'changed', signer: instance.name };
    // The service compares it byte by byte: not all who may verify may read it as it was signed.
    const file = new File([jws], 'receipt.jws', { type: 'application/jose' });
    const { body: verdict } = await tools.api(ctx).call('verifyReceipt', { file });
    const isOnRecord = verdict.genuine && (await findReceipt(ctx, tools, receipt.transaction)) !== undefined;
    return { outcome: isOnRecord ? 'on-record' : 'replaced', signer: instance.name, receipt };
  }
  const peer = await findPeer(ctx, tools, kid);
  if (!peer) return { outcome: 'unknown-key', signer: '' };
  const keys = await pinnedKeys(givenKeys, peer.thumbprints);
  if (keys.length === 0) return { outcome: 'keys-needed', signer: peer.name };
  const receipt = await open(jws, keys);
  return receipt
    ? { outcome: 'of-peer', signer: peer.name, receipt }
    : { outcome: 'changed', signer: peer.name };
}

/** The `kid` of a signed receipt; undefined for anything else. */
function kidOf(jws: string): string | undefined {
  if (jws.length > maxCharacters) return undefined;
  try {
    const { kid, typ, alg = '' } = decodeProtectedHeader(jws);
    return typ === type && algorithms.includes(alg) ? kid : undefined;
  } catch {
    return undefined;
  }
}

async function open(jws: string, keys: readonly JWK[]): Promise<Receipt | undefined> {
  try {
    const signing = { keys: keys.filter(({ use }) => use === 'sig') };
    const { payload } = await compactVerify(jws, createLocalJWKSet(signing), { algorithms });
    return JSON.parse(new TextDecoder().decode(payload)) as Receipt;
  } catch {
    return undefined;
  }
}

/** The peer that has pinned a key; only administrators see peers. */
async function findPeer(ctx: Context, tools: RoomTools, kid: string) {
  if (!tools.may(ctx, 'listPeers')) return undefined;
  return findRow(
    (cursor) => tools.api(ctx).list('listPeers', { page: { cursor } }),
    ({ thumbprints }) => thumbprints.includes(kid),
  );
}

/** The keys in a text that are pinned for the peer. A thumbprint is computed (RFC 7638), never believed. */
async function pinnedKeys(text: string, thumbprints: readonly string[]): Promise<JWK[]> {
  try {
    const { keys, jwks } = JSON.parse(text) as { keys?: JWK[]; jwks?: { keys: JWK[] } };
    const given = (keys ?? jwks?.keys ?? []).slice(0, 32);
    const named = await Promise.all(
      given.map(async (key) => ({ ...key, kid: await calculateJwkThumbprint(key) })),
    );
    return named.filter(({ kid }) => thumbprints.includes(kid));
  } catch {
    return [];
  }
}
