import type { Context } from 'koa';
import { type Counter, type Counters, createMemoryCounters } from '#lib/cache/counters.ts';
import { givenRoles, type Principal, type Role } from '#lib/contracts/principal.ts';
import { fail } from '#lib/errors/fail.ts';
import { clientNetwork } from '#lib/http/client-address.ts';

/** What requests are counted by. Limits are per minute (docs/interface.md, "Limits"). */
export type LimitKind =
  | 'key'
  | 'user'
  | 'transaction'
  | 'address'
  | 'authorization'
  | 'decision'
  | 'public'
  | 'link'
  | 'choices'
  | 'choices-of-all';
export type RateLimits = Record<LimitKind, number> | 'off';

export const defaultRateLimits: Record<LimitKind, number> = {
  key: 6_000,
  user: 300,
  transaction: 60,
  address: 60,
  authorization: 120,
  decision: 120_000,
  public: 60,
  link: 60,
  choices: 10,
  'choices-of-all': 60,
};

/** Counts requests and rejects those over the limit. */
export interface RateLimiter {
  /** @throws Failure `too-many-requests` with Retry-After. */
  countRequest(principal: Principal): Promise<void>;
  /** Counts the questions of a request for decisions. @throws Failure `too-many-requests`. */
  countDecisions(principal: Principal, questions: number): Promise<void>;
  /**
   * Counts failed credentials by address. A guessable secret is counted before it is checked, so that
   * parallel guesses cannot exceed the limit; {@link forgetRefusal} follows if it was correct.
   * @throws Failure `too-many-requests`.
   */
  countRefusal(ctx: Context): Promise<void>;
  /** Counts sign-ins started by an address, because each is stored. @throws Failure `too-many-requests`. */
  countAuthorization(ctx: Context): Promise<void>;
  /** Counts what a network begins at the addresses of forms. @throws Failure `too-many-requests`. */
  countPublic(ctx: Context): Promise<void>;
  /** Counts tries of short links by network. @throws Failure `too-many-requests`. */
  countLink(ctx: Context): Promise<void>;
  /**
   * Counts requests for a link to choices, by network and all together.
   * @returns whether the request is under both limits.
   */
  countChoices(ctx: Context): Promise<boolean>;
  /** Undoes {@link countLink}. */
  forgetLink(ctx: Context): Promise<void>;
  /** Undoes {@link countRefusal}. */
  forgetRefusal(ctx: Context): Promise<void>;
}

/** Makes a limiter. @param counters holds the counts: in this process, or shared by replicas. */
export function createRateLimiter(limits: RateLimits, counters: Counters): RateLimiter {
  if (limits === 'off') {
    const nothing = async () => {};
    return {
      countRequest: nothing,
      countDecisions: nothing,
      countRefusal: nothing,
      countAuthorization: nothing,
      countPublic: nothing,
      countLink: nothing,
      countChoices: async () => true,
      forgetLink: nothing,
      forgetRefusal: nothing,
    };
  }
  const byKind = Object.fromEntries(
    Object.entries(limits).map(([name, points]) => [name, counters({ name, points, seconds: 60 })]),
  ) as Record<LimitKind, Counter>;
  const count = async (kind: LimitKind, account: string, actions = 1) => {
    const waitMs = await byKind[kind].count(account, actions);
    if (waitMs !== undefined) throw tooMany(waitMs);
  };
  return {
    async countRequest(principal) {
      const kind = limitKind(principal);
      if (kind) await count(kind, principal.account);
    },
    countDecisions: (principal, questions) => count('decision', principal.account, questions),
    countRefusal: (ctx) => count('address', clientNetwork(ctx)),
    countAuthorization: (ctx) => count('authorization', clientNetwork(ctx)),
    countPublic: (ctx) => count('public', clientNetwork(ctx)),
    countLink: (ctx) => count('link', clientNetwork(ctx)),
    // Both are counted in any case, so that the request costs the same.
    async countChoices(ctx) {
      const waits = [
        await byKind.choices.count(clientNetwork(ctx), 1),
        await byKind['choices-of-all'].count('all', 1),
      ];
      return waits.every((wait) => wait === undefined);
    },
    forgetLink: (ctx) => byKind.link.takeBack(clientNetwork(ctx)),
    forgetRefusal: (ctx) => byKind.address.takeBack(clientNetwork(ctx)),
  };
}

/** Makes a limiter that counts in this process only. */
export function createMemoryRateLimiter(limits: RateLimits): RateLimiter {
  return createRateLimiter(limits, createMemoryCounters());
}

function tooMany(ms: number) {
  const seconds = Math.max(1, Math.ceil(ms / 1000));
  return fail('too-many-requests', `Too many requests; try again in ${seconds} s.`, {
    headers: { 'Retry-After': String(seconds) },
  });
}

const personRoles: readonly Role[] = givenRoles;

function limitKind(principal: Principal): LimitKind | undefined {
  if (principal.roles.includes('key') || principal.roles.includes('decision')) return 'key';
  if (principal.roles.includes('transaction')) return 'transaction';
  return principal.roles.some((role) => role === 'choices' || personRoles.includes(role))
    ? 'user'
    : undefined;
}
