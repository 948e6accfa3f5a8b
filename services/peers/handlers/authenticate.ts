import { decodeJwt } from 'jose';
import type { Context } from 'koa';
import { type Authenticator, authenticateWithoutTransaction } from '#lib/auth/authenticate.ts';
import { anonymous, type Principal } from '#lib/contracts/principal.ts';
import type { Database } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import { withoutSlot } from '#lib/http/admission.ts';
import type { ContractOperation } from '#lib/http/operation.ts';
import { readRawBody } from '#lib/http/read-input.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { ClockWatch } from '../client/watch-clocks.ts';
import {
  type IncomingPeerRequest,
  mostSkewSeconds,
  type PeerTokenVerdict,
  verifyPeerToken,
} from '../domain/peer-token.ts';
import { type Admission, admitToken, type Sender } from '../queries/seen-tokens.ts';
import type { Lanes } from './lanes.ts';
import { notePeer } from './peer-of.ts';
import type { PinnedKeys } from './pinned-keys.ts';

interface Parts {
  authenticator: Authenticator;
  db: Database;
  /** What they say is confirmed with each request (seen-tokens.ts). */
  pinnedKeys: PinnedKeys;
  baseUrl: string;
  log: Logger;
  /** Counts refused messages of an address. @throws Failure `too-many-requests`. */
  countRefusal: (ctx: Context) => Promise<void>;
  /** Asks a known peer for its keys anew, at most once a minute. @returns whether it was asked. */
  lookAgain: (url: string) => Promise<boolean>;
  clocks: ClockWatch;
  lanes: Pick<Lanes, 'check' | 'enter' | 'turn'>;
  /** Counts a message that is not what it says it is. */
  refused: (reason: string) => void;
}

/**
 * Who asks: people and keys as everywhere, instances by the signature of their request (federation.md, "Trust"). A token is good once.
 * Only what a known key signed costs more than reading a header.
 */
export function createPeerAuthentication(parts: Parts) {
  return async (ctx: Context, operation: ContractOperation): Promise<Principal> => {
    if (!operation.path.startsWith('/federation/'))
      return authenticateWithoutTransaction(parts.authenticator, ctx);
    const token = peerToken(ctx);
    // Who introduces itself is judged with its introduction (accept-pairing.ts).
    if (operation['x-roles'].anonymous || token === undefined) return anonymous;
    const caller = callerOf(ctx, token);
    parts.lanes.check(caller);
    const request = incoming(ctx, operation, { ...parts, caller });
    const proved = await prove(parts, ctx, { token, request });
    await withoutSlot(ctx, () => parts.lanes.turn(ctx));
    // A key that is not pinned any more is looked for once again.
    const sender =
      (await admit(parts, proved)) ?? (await admit(parts, await prove(parts, ctx, { token, request })));
    if (!sender) throw refused('The pairing has ended.');
    const peer = allow(parts, sender);
    notePeer(ctx, peer);
    return { roles: ['peer'], name: peer.url, account: `peer:${peer.id}` };
  };
}

/** @throws Failure `unauthorized` if the token does not prove who has sent the request. */
async function prove(
  parts: Parts,
  ctx: Context,
  { token, request }: { token: string; request: ReturnType<typeof incoming> },
): Promise<PeerTokenVerdict & { valid: true }> {
  const verdict = await verify(parts, token, request);
  noteClock(parts.clocks, verdict);
  if (verdict.valid) return verdict;
  parts.refused(verdict.fault);
  await parts.countRefusal(ctx);
  parts.log.warn('a message in the name of a peer was refused', { code: verdict.fault });
  throw refused(`The request is not signed as it should be (${verdict.fault}).`);
}

/** A clock that is wrong makes messages look too old or too new: whoever looks for the reason finds it in the log and in the metrics. */
function noteClock(clocks: ClockWatch, verdict: PeerTokenVerdict): void {
  if (verdict.valid) clocks.note(verdict.peer, new Date(verdict.claims.iat * 1000));
  else if (verdict.clock) clocks.note(verdict.clock.peer, new Date(verdict.clock.issuedAt * 1000));
}

/**
 * The request as its token must describe it: the address is built from ours, never from Host. Whoever has signed it takes a lane before the
 * body is read, which may take as long as they like.
 */
function incoming(
  ctx: Context,
  operation: ContractOperation,
  { baseUrl, lanes, caller }: Parts & { caller: string },
): Omit<IncomingPeerRequest, 'body'> & { bodyOf(peer: string): Promise<Uint8Array> } {
  return {
    ...{ method: ctx.method, url: `${baseUrl}${ctx.url}` },
    async bodyOf(peer) {
      lanes.enter(ctx, { peer, caller });
      return readRawBody(ctx, operation);
    },
  };
}

/** Address and header of the token, which names the key: whoever else uses that has another address. */
function callerOf(ctx: Context, token: string): string {
  return `${ctx.state.address ?? ctx.ip} ${token.split('.', 1)[0]}`;
}

/** The token in `Authorization: Peer <token>`. */
export function peerToken(ctx: Context): string | undefined {
  return /^Peer (\S+)$/i.exec(ctx.get('authorization'))?.[1];
}

async function verify(
  parts: Parts,
  token: string,
  { bodyOf, ...described }: ReturnType<typeof incoming>,
): Promise<PeerTokenVerdict> {
  let signer = '';
  const request = { ...described, body: () => bodyOf(signer) };
  const options = {
    audience: parts.baseUrl,
    now: new Date(),
    pinned: async (issuer: string, kid: string) => {
      const key = await parts.pinnedKeys.find(issuer, kid);
      signer = key ? issuer : '';
      return key;
    },
  };
  const verdict = await verifyPeerToken(token, request, options);
  const issuer = !verdict.valid && verdict.fault === 'unknown-key' ? issuerOf(token) : undefined;
  if (issuer === undefined || !(await parts.lookAgain(issuer))) return verdict;
  return verifyPeerToken(token, request, options);
}

/** Whom a token names, unproved: a reason to look for new keys of a known peer, and nothing else. */
function issuerOf(token: string): string | undefined {
  try {
    return decodeJwt(token).iss;
  } catch {
    return undefined;
  }
}

/** @returns undefined if the key is not pinned any more: it was trusted for what was known of it before. */
async function admit(
  { db, pinnedKeys }: Parts,
  { peer: url, kid, claims }: PeerTokenVerdict & { valid: true },
): Promise<Admission | undefined> {
  const expiresAt = new Date((claims.exp + mostSkewSeconds + 1) * 1000);
  const admission = await admitToken(db, { url, kid, jti: claims.jti, expiresAt });
  if (!admission) pinnedKeys.forget(url, kid);
  return admission;
}

function allow(parts: Parts, { isFirst, ...peer }: Admission): Sender {
  if (!isFirst) {
    parts.refused('replay');
    throw refused('The request has come before.');
  }
  if (peer.state !== 'PAIRED') throw fail('forbidden', 'The keys of this peer wait for confirmation.');
  return peer;
}

function refused(detail: string) {
  return fail('unauthorized', detail, { headers: { 'WWW-Authenticate': 'Peer' } });
}
