import { decodeJwt, decodeProtectedHeader } from 'jose';
import type { PairingKeyVerdict, PairingPartner } from '#lib/contracts/auth.ts';
import { type Failure, fail } from '#lib/errors/fail.ts';
import { readPeerAddress } from '../domain/peer-address.ts';
import { type IncomingPeerRequest, verifyPeerToken } from '../domain/peer-token.ts';
import { type PeerDescription, readDescription } from '../domain/read-description.ts';
import { findPeerByUrl } from '../queries/peers.ts';
import type { Parts } from './dependencies.ts';
import { savePeer } from './save-peer.ts';

/** How another instance introduces itself. */
export interface Introduction {
  /** A UUID that the other side drew; the same one again is the same pairing. */
  pairing: string;
  apiKey: string;
  /** Its self-description, signed. */
  description: string;
}

/** The partner pins our keys when it has our answer, and would refuse us before. Then it asks for our catalogue, and is asked for its own; or at the latest then. */
const partnerPinsWithinSeconds = 5;

/**
 * Accepts another instance as peer: the one-time key first, so that a stranger costs no signature check; then who it is.
 * @param token of the request. @returns this instance's own description. @throws Failure `unauthorized`, `invalid`, `forbidden`.
 */
export async function acceptPairing(
  parts: Parts,
  { pairing, apiKey, description: jws }: Introduction,
  { token, request, now }: { token: string; request: IncomingPeerRequest; now: Date },
): Promise<{ description: string }> {
  const claimed = claimedPartner(jws);
  const presented = { apiKey, pairing, partner: claimed };
  const { verdict } = await parts.auth.reservePairingKey(presented);
  if (verdict !== 'reserved') throw keyRefused(verdict);
  const description = await readIntroduction(parts, { jws, claimed: claimed.url }, now);
  const pinned = async (issuer: string, kid: string) =>
    issuer === description.instance
      ? description.keys.find((each) => each.kid === kid && each.use === 'sig')?.jwk
      : undefined;
  const judged = await verifyPeerToken(token, request, { audience: parts.baseUrl, pinned, now });
  if (!judged.valid)
    throw fail('unauthorized', `The request is not signed as it should be (${judged.fault}).`);
  await refuseTakeover(parts, description);
  await parts.db.withTransaction(async (tx) => {
    await savePeer(tx, parts, description, partnerPinsWithinSeconds);
    // Before the COMMIT: an administrator who removes the peer at this moment spends the key first, and nothing is stored. After a crash
    // in between, the same partner may present the key again.
    const { used } = await parts.auth.usePairingKey(presented);
    if (!used) throw keyRefused('used');
  });
  parts.wake();
  await parts.tellForms();
  return { description: await parts.ownDescription() };
}

async function readIntroduction(
  parts: Parts,
  { jws, claimed }: { jws: string; claimed: string },
  now: Date,
): Promise<PeerDescription> {
  const address = readPeerAddress(claimed, { own: parts.baseUrl, plainLoopback: parts.plainLoopback });
  if ('fault' in address || address.origin !== claimed)
    throw introductionFault('fault' in address ? address.fault : 'The address must be written as an origin.');
  const read = await readDescription(jws, { url: claimed, now, ownKids: parts.ownKids });
  if (!read.valid) throw introductionFault(`The self-description cannot be used (${read.fault}).`);
  return read.description;
}

/** No address and no thumbprint is longer: a reservation does not store more. */
const longestClaim = 2_048;

/**
 * The partner that a self-description names, unproved. The key is reserved for it before any signature is checked; readDescription then
 * proves both values, or the pairing fails.
 */
function claimedPartner(jws: string): PairingPartner {
  try {
    const [url, thumbprint] = [decodeJwt(jws).instance, decodeProtectedHeader(jws).kid].map(String);
    return {
      url: (url as string).slice(0, longestClaim),
      thumbprint: (thumbprint as string).slice(0, longestClaim),
    };
  } catch {
    return { url: '', thumbprint: '' };
  }
}

/** A one-time key lets in a new partner. Who is paired already is not replaced by it, unless the address itself shows the same key. */
async function refuseTakeover(parts: Parts, description: PeerDescription): Promise<void> {
  const existing = await findPeerByUrl(parts.db, description.instance);
  const isKnown = !existing || existing.thumbprints.length === 0;
  if (isKnown || existing.thumbprints.includes(description.signedBy)) return;
  const shown = await parts.client.describe(description.instance);
  if (shown.description.signedBy !== description.signedBy)
    throw fail('forbidden', 'This address is paired with other keys.');
}

function keyRefused(verdict: Exclude<PairingKeyVerdict, 'reserved'>): Failure {
  const codes = { unknown: 'unauthorized', used: 'forbidden', 'not-for-pairing': 'invalid' } as const;
  return fail(codes[verdict], 'The key cannot be used for pairing.', {
    errors: [
      { pointer: '/apiKey', code: verdict, detail: 'Ask for a key of scope PEER that has not been used.' },
    ],
  });
}

function introductionFault(detail: string): Failure {
  return fail('invalid', 'This instance cannot be paired with.', {
    errors: [{ pointer: '/description', code: 'invalid', detail }],
  });
}
