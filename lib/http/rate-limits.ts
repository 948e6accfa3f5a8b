import type { Context } from 'koa';
import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';
import type { Principal } from '#lib/auth/principal.ts';
import { fail } from '#lib/errors/fail.ts';
import { addressNetwork } from '#lib/http/address-network.ts';

/** What requests are counted by; the limits are per minute (decisions.md §10). */
export type LimitKind = 'key' | 'user' | 'transaction' | 'address';
export type RateLimits = Record<LimitKind, number> | 'off';

export const defaultRateLimits: Record<LimitKind, number> = {
  key: 6_000,
  user: 300,
  transaction: 60,
  address: 60,
};

/** Counts requests and refuses those over the limit. */
export interface RateLimiter {
  /** @throws Failure `too-many-requests` with Retry-After. */
  countRequest(principal: Principal): Promise<void>;
  /**
   * Counts failed credentials of an address. What can be guessed is counted before it is tried, so that no guesses run side by side
   * beyond the limit, and {@link forgetRefusal} follows if it was right. @throws Failure `too-many-requests`.
   */
  countRefusal(ctx: Context): Promise<void>;
  /** Takes a counted refusal back. */
  forgetRefusal(ctx: Context): Promise<void>;
}

/** Limits kept in this process. */
export function createMemoryRateLimiter(limits: RateLimits): RateLimiter {
  if (limits === 'off')
    return { countRequest: async () => {}, countRefusal: async () => {}, forgetRefusal: async () => {} };
  const limiters = Object.fromEntries(
    Object.entries(limits).map(([kind, points]) => [
      kind,
      new RateLimiterMemory({ keyPrefix: kind, points, duration: 60 }),
    ]),
  ) as Record<LimitKind, RateLimiterMemory>;
  const count = async (kind: LimitKind, who: string) => {
    try {
      await limiters[kind].consume(who);
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      throw tooMany(refused.msBeforeNext);
    }
  };
  const addressOf = (ctx: Context): string => addressNetwork(ctx.state.address ?? ctx.ip);
  return {
    async countRequest(principal) {
      const kind = limitKind(principal);
      if (kind) await count(kind, principal.account);
    },
    countRefusal: (ctx) => count('address', addressOf(ctx)),
    forgetRefusal: async (ctx) => void (await limiters.address.reward(addressOf(ctx))),
  };
}

function tooMany(ms: number) {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  return fail('too-many-requests', `Too many requests; try again in ${seconds} s.`, {
    headers: { 'Retry-After': String(seconds) },
  });
}

function limitKind(principal: Principal): LimitKind | undefined {
  if (principal.roles.includes('key')) return 'key';
  if (principal.roles.includes('transaction')) return 'transaction';
  return principal.roles.includes('user') ? 'user' : undefined;
}
