import { decodeJwt } from 'jose';
import type { Context } from 'koa';
import { type Authenticator, authenticateWithoutTransaction } from '#lib/auth/authenticate.ts';
import { anonymous, type Principal } from '#lib/auth/principal.ts';
import type { Database } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
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
import { findPinnedKey } from '../queries/peers.ts';
import { admitToken, type Sender } from '../queries/seen-tokens.ts';
import type { Lanes } from './lanes.ts';
import { notePeer } from './peer-of.ts';

interface Parts {
  authenticator: Authenticator;
  db: Database;
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
    const verdict = await verify(parts, token, incoming(ctx, operation, { ...parts, caller }));
    noteClock(parts.clocks, verdict);
    if (!verdict.valid) {
      parts.refused(verdict.fault);
      await parts.countRefusal(ctx);
      parts.log.warn('a message in the name of a peer was refused', { code: verdict.fault });
      throw refused(`The request is not signed as it should be (${verdict.fault}).`);
    }
    await parts.lanes.turn(ctx);
    const peer = await admit(parts, verdict);
    notePeer(ctx, peer);
    return { roles: ['peer'], name: peer.url, account: `peer:${peer.id}` };
  };
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
    pinned: async (kid: string) => {
      const key = await findPinnedKey(parts.db, kid);
      signer = key?.url ?? '';
      return key && { peer: key.url, key: key.jwk };
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

async function admit(
  parts: Parts,
  { peer: url, claims }: PeerTokenVerdict & { valid: true },
): Promise<Sender> {
  const expiresAt = new Date((claims.exp + mostSkewSeconds + 1) * 1000);
  const peer = await admitToken(parts.db, { url, jti: claims.jti, expiresAt });
  if (!peer) throw refused('The pairing has ended.');
  if (!peer.isFirst) {
    parts.refused('replay');
    throw refused('The request has come before.');
  }
  if (peer.state !== 'PAIRED') throw fail('forbidden', 'The keys of this peer wait for confirmation.');
  return peer;
}

function refused(detail: string) {
  return fail('unauthorized', detail, { headers: { 'WWW-Authenticate': 'Peer' } });
}
