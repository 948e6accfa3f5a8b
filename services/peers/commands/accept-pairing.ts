import { decodeJwt } from 'jose';
import type { PairingKeyVerdict } from '#lib/contracts/auth.ts';
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
 * @param token of the request. @returns this instance's own description. @throws Failure `unauthorized`, `invalid`, `forbidden`, `exists`.
 */
export async function acceptPairing(
  parts: Parts,
  { pairing, apiKey, description: jws }: Introduction,
  { token, request, now }: { token: string; request: IncomingPeerRequest; now: Date },
): Promise<{ description: string }> {
  const { verdict } = await parts.auth.reservePairingKey({ apiKey, pairing });
  if (verdict !== 'reserved') throw keyRefused(verdict);
  const description = await readIntroduction(parts, jws, now);
  const pinned = async (kid: string) => {
    const key = description.keys.find((each) => each.kid === kid && each.use === 'sig');
    return key && { peer: description.instance, key: key.jwk };
  };
  const judged = await verifyPeerToken(token, request, { audience: parts.baseUrl, pinned, now });
  if (!judged.valid)
    throw fail('unauthorized', `The request is not signed as it should be (${judged.fault}).`);
  await refuseTakeover(parts, description);
  await parts.db.withTransaction((tx) => savePeer(tx, parts, description, partnerPinsWithinSeconds));
  parts.wake();
  // After the COMMIT: a crash in between leaves a key that the same pairing can use again.
  await parts.auth.usePairingKey({ apiKey, pairing });
  return { description: await parts.ownDescription() };
}

async function readIntroduction(parts: Parts, jws: string, now: Date): Promise<PeerDescription> {
  const claimed = claimedInstance(jws);
  const address = readPeerAddress(claimed, { own: parts.baseUrl, plainLoopback: parts.plainLoopback });
  if ('fault' in address || address.origin !== claimed)
    throw introductionFault('fault' in address ? address.fault : 'The address must be written as an origin.');
  const read = await readDescription(jws, { url: claimed, now, ownKids: parts.ownKids });
  if (!read.valid) throw introductionFault(`The self-description cannot be used (${read.fault}).`);
  return read.description;
}

function claimedInstance(jws: string): string {
  try {
    return String(decodeJwt(jws).instance);
  } catch {
    return '';
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
