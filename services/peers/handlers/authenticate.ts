import type { JWK } from 'jose';
import type { Context } from 'koa';
import { LRUCache } from 'lru-cache';
import { type Authenticator, authenticateWithoutTransaction } from '#lib/auth/authenticate.ts';
import type { PeerSummary } from '#lib/contracts/parts.ts';
import { anonymous, type Principal } from '#lib/contracts/principal.ts';
import { type Failure, fail } from '#lib/errors/fail.ts';
import { whileIdle } from '#lib/http/admission.ts';
import type { ContractOperation } from '#lib/http/operation.ts';
import { readRawBody } from '#lib/http/read-input.ts';
import type { RequestTrace } from '#lib/observability/tracing.ts';
import type { ClockWatch } from '../client/clock-watch.ts';
import type { Dependencies } from '../commands/dependencies.ts';
import { type IncomingPeerRequest, type PeerTokenCheck, verifyPeerToken } from '../domain/peer-token.ts';
import { maxSkewSeconds } from '../domain/signatures.ts';
import { findPinnedKey } from '../queries/peer-keys.ts';
import { admitToken } from '../queries/peers.ts';
import type { PeerLimiter } from './peer-limiter.ts';

interface Options extends Pick<Dependencies, 'db' | 'baseUrl' | 'log' | 'refreshKeys' | 'recordRejection'> {
  authenticator: Authenticator;
  /** Counts rejected requests by network address. @throws Failure `too-many-requests`. */
  countRefusal: (ctx: Context) => Promise<void>;
  clocks: ClockWatch;
  peerLimiter: PeerLimiter;
}

const maxCachedKeys = 1_000;

type ProvedToken = PeerTokenCheck & { valid: true };

/**
 * Authenticates people and API keys as every service does, and instances by the signature of their request
 * (docs/federation.md, "Requests between peers"). A token is accepted once.
 */
export function createPeerAuthentication(options: Options) {
  const { db, baseUrl, log, clocks, peerLimiter, refreshKeys, recordRejection } = options;
  // They may be stale: `admit` confirms the key of each request.
  const pinnedKeys = new LRUCache<string, JWK>({ max: maxCachedKeys });

  async function findKey(issuer: string, kid: string): Promise<JWK | undefined> {
    const name = `${kid} ${issuer}`;
    const key = pinnedKeys.get(name) ?? (await findPinnedKey(db, issuer, kid));
    // Unknown keys are not cached, because strangers can name any number of them.
    if (key) pinnedKeys.set(name, key);
    return key;
  }

  /** Verifies a token. An unknown key of a known peer triggers a refresh of its keys and a second check. */
  async function verify(
    ctx: Context,
    operation: ContractOperation,
    { token, caller }: { token: string; caller: string },
  ): Promise<PeerTokenCheck> {
    let peer = '';
    const request: IncomingPeerRequest = {
      method: ctx.method,
      // From the base URL, never from `Host`.
      url: `${baseUrl}${ctx.url}`,
      async body() {
        // The peer takes a slot before its body is read, because it may send the body slowly.
        peerLimiter.enter(ctx, { peer, caller });
        return readRawBody(ctx, operation);
      },
    };
    const context = {
      audience: baseUrl,
      now: new Date(),
      pinned(issuer: string, kid: string) {
        peer = issuer;
        return findKey(issuer, kid);
      },
    };
    const check = await verifyPeerToken(token, request, context);
    if (check.valid || check.fault !== 'unknown-key' || !check.issuer) return check;
    return (await refreshKeys(check.issuer)) ? verifyPeerToken(token, request, context) : check;
  }

  /** Proves who sent the request. @throws Failure `unauthorized` if the token is rejected. */
  async function prove(ctx: Context, operation: ContractOperation, token: string): Promise<ProvedToken> {
    // A Retry-After applies to one address and one key (in the token's header), not to other callers.
    const caller = `${ctx.state.address ?? ctx.ip} ${token.split('.', 1)[0]}`;
    peerLimiter.check(caller);
    const check = await verify(ctx, operation, { token, caller });
    if (check.valid) {
      clocks.note(check.peer, new Date(check.claims.iat * 1000));
      return check;
    }
    const { fault, issuer, issuedAt } = check;
    if (fault === 'clock') clocks.note(issuer as string, new Date((issuedAt as number) * 1000));
    recordRejection(fault);
    await options.countRefusal(ctx);
    log.warn('rejected a request in the name of a peer', { code: fault });
    throw unauthorized(`The request's token was rejected (${fault}).`);
  }

  /** @returns undefined if the key that proved the token is no longer pinned. */
  async function admit({ peer: url, kid, claims }: ProvedToken) {
    const expiresAt = new Date((claims.exp + maxSkewSeconds + 1) * 1000);
    const sender = await admitToken(db, { url, kid, jti: claims.jti, expiresAt });
    if (!sender) pinnedKeys.delete(`${kid} ${url}`);
    return sender;
  }

  return async (ctx: Context, operation: ContractOperation): Promise<Principal> => {
    if (!operation.path.startsWith('/federation/'))
      return authenticateWithoutTransaction(options.authenticator, ctx);
    const token = peerToken(ctx);
    // A pairing request is authenticated together with its body (commands/accept-pairing.ts).
    const { anonymous: isOpen, peer: isForPeers } = operation['x-roles'];
    if (token === undefined || (isOpen && !isForPeers)) return anonymous;
    const proved = await prove(ctx, operation, token);
    await whileIdle(ctx, () => peerLimiter.waitForTurn(ctx));
    // The cached key may have been unpinned meanwhile. Then the token is checked again, without that key.
    const sender = (await admit(proved)) ?? (await admit(await prove(ctx, operation, token)));
    if (!sender) throw unauthorized('The pairing has ended.');
    const { isFirst, state, erasure, ...peer } = sender;
    if (!isFirst) {
      recordRejection('replay');
      throw unauthorized('The token was used before. Sign each request with a new one.');
    }
    if (state !== 'PAIRED') throw fail('forbidden', 'The keys of this peer wait for confirmation.');
    ctx.state.peer = peer satisfies PeerSummary;
    ctx.state.followsErasures = erasure === 'FOLLOW';
    (ctx.state.trace as RequestTrace | undefined)?.continueFrom(ctx.get('traceparent'));
    return { roles: ['peer'], name: peer.url, account: `peer:${peer.id}` };
  };
}

/** The peer that signed a request of role `peer`. */
export function peerOf(ctx: Context): PeerSummary {
  return ctx.state.peer as PeerSummary;
}

/** The token in `Authorization: Peer <token>`. */
export function peerToken(ctx: Context): string | undefined {
  return /^Peer (\S+)$/i.exec(ctx.get('authorization'))?.[1];
}

export function unauthorized(detail: string): Failure {
  return fail('unauthorized', detail, { headers: { 'WWW-Authenticate': 'Peer' } });
}
