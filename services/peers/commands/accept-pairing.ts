import { decodeJwt, decodeProtectedHeader } from 'jose';
import { thisInstance } from '#lib/audit/record-action.ts';
import type { PairingKeyVerdict, PairingPartner } from '#lib/contracts/auth.ts';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { type Failure, fail, invalidMember } from '#lib/errors/fail.ts';
import { type PeerDescription, readDescription } from '../domain/description.ts';
import { readPeerAddress } from '../domain/peer.ts';
import { type IncomingPeerRequest, verifyPeerToken } from '../domain/peer-token.ts';
import { findPeerByUrl } from '../queries/peers.ts';
import type { Dependencies } from './dependencies.ts';
import { savePeer } from './pair.ts';

/** Delay of our first read of the peer's catalogue, which fails until the peer has pinned our keys. */
const pinnedWithinSeconds = 5;

/**
 * Accepts a peer. The one-time key is checked first, so that strangers cannot cause signature checks.
 * @param token of the request. @returns our self-description.
 * @throws Failure `unauthorized`, `invalid`, `forbidden`.
 */
export async function acceptPairing(
  dependencies: Dependencies,
  { pairing, apiKey, description: jws }: components['schemas']['Introduction'],
  { token, request }: { token: string; request: IncomingPeerRequest },
): Promise<{ description: string }> {
  const now = new Date();
  const claimed = claimedPeer(jws);
  const presented = { apiKey, pairing, partner: claimed };
  const { verdict } = await dependencies.auth.reservePairingKey(presented);
  if (verdict !== 'reserved') throw keyRefused(verdict);
  const description = readIntroduction(dependencies, { jws, claimed: claimed.url }, now);
  const pinned = async (issuer: string, kid: string) =>
    issuer === description.instance
      ? description.keys.find((each) => each.kid === kid && each.use === 'sig')?.jwk
      : undefined;
  const verified = await verifyPeerToken(token, request, { audience: dependencies.baseUrl, pinned, now });
  if (!verified.valid) throw fail('unauthorized', `The request's token was rejected (${verified.fault}).`);
  await refuseTakeover(dependencies, description);
  await dependencies.db.withTransaction(async (tx) => {
    const how = { action: 'peer.accepted', by: thisInstance, readInSeconds: pinnedWithinSeconds } as const;
    await savePeer(tx, dependencies, { ...how, description });
    // The key is used up before the COMMIT: if an administrator removes the peer meanwhile, the key is spent
    // and nothing is stored. If the process ends before the COMMIT, the same peer may present the key again.
    const { used } = await dependencies.auth.usePairingKey(presented);
    if (!used) throw keyRefused('used');
  });
  await dependencies.afterPairingChange();
  return { description: dependencies.ownDescription() };
}

function readIntroduction(
  { baseUrl, plainLoopback, ownKids }: Dependencies,
  { jws, claimed }: { jws: string; claimed: string },
  now: Date,
): PeerDescription {
  const address = readPeerAddress(claimed, { own: baseUrl, plainLoopback });
  if ('fault' in address) throw introductionFault(address.fault);
  if (address.origin !== claimed)
    throw introductionFault('The address must be an origin, such as https://consent.example.org.');
  const read = readDescription(jws, { url: claimed, now, ownKids });
  if ('fault' in read) throw introductionFault(`The self-description was rejected (${read.fault}).`);
  return read.description;
}

/** Bounds what a reservation stores; addresses and thumbprints are shorter. */
const maxClaimLength = 2_048;

/**
 * Address and thumbprint that a self-description claims. The one-time key is reserved for them before any
 * signature check; readDescription then proves both, or the pairing fails.
 */
function claimedPeer(jws: string): PairingPartner {
  try {
    const bound = (claim: unknown) => String(claim).slice(0, maxClaimLength);
    return { url: bound(decodeJwt(jws).instance), thumbprint: bound(decodeProtectedHeader(jws).kid) };
  } catch {
    return { url: '', thumbprint: '' };
  }
}

/** A one-time key replaces a peer's pinned keys only if the peer's address publishes the new keys. */
async function refuseTakeover(dependencies: Dependencies, description: PeerDescription): Promise<void> {
  const existing = await findPeerByUrl(dependencies.db, description.instance);
  const isFree = !existing || existing.thumbprints.length === 0;
  if (isFree || existing.thumbprints.includes(description.signedBy)) return;
  const published = await dependencies.client.describe(description.instance);
  if (published.signedBy !== description.signedBy)
    throw fail('forbidden', 'This address is already paired, with other keys.');
}

function keyRefused(verdict: Exclude<PairingKeyVerdict, 'reserved'>): Failure {
  const codes = { unknown: 'unauthorized', used: 'forbidden', 'not-for-pairing': 'invalid' } as const;
  return fail(codes[verdict], 'The key cannot be used for pairing.', {
    errors: [{ pointer: '/apiKey', code: verdict, detail: 'Ask for an unused key of scope PEER.' }],
  });
}

function introductionFault(detail: string): Failure {
  return invalidMember('This instance cannot be paired with.', '/description', detail);
}
