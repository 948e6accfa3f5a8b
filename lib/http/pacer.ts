import { setTimeout as delay } from 'node:timers/promises';
import type { Context, Middleware } from 'koa';
import type { Principal } from '#lib/contracts/principal.ts';
import { clientNetwork } from '#lib/http/client-address.ts';
import { createPaceAccounts, type PaceAccounts } from '#lib/http/pace-accounts.ts';
import { createWorkMeter, type Work } from '#lib/http/work-meter.ts';

/** Responses that are held back at a time; a further one is sent, and its connection is closed. */
const maxHeld = { ofAccount: 64, total: 1_024 };
/** A 429 counts at least this much, so that a client that ignores them gets five a second. */
const tooManyCostMs = 10;
/** Interval at which a response that is held back is released if no other account is served any more. */
const checkMs = 100;

/**
 * Keeps strangers from slowing others down: their responses are held back once they have taken more than
 * their share of this process's time (ADR 32). Services of one process share it.
 */
export interface Pacer {
  /** The outermost middleware of every public application, behind the one that finds the client's address. */
  pace: Middleware;
  /** Sends all responses, and holds back no further ones, because the process stops. */
  stop(): void;
}

/** Who is charged for a request. */
interface Payer {
  account: string;
  /** Credentials of the organisation: limited by rate limits alone. */
  isTrusted: boolean;
}

interface PacedRequest {
  work: Work;
  payer: Payer;
  accounts: PaceAccounts;
}

/** @param onHeld told of each response that is held back. */
export function createPacer({ onHeld = () => {} }: { onHeld?: () => void } = {}): Pacer {
  const accounts = createPaceAccounts();
  const meter = createWorkMeter();
  const held = new Set<AbortController>();
  const heldOf = new Map<string, number>();
  let isStopping = false;

  async function hold(ctx: Context, account: string, ms: number): Promise<void> {
    const until = performance.now() + ms;
    const ofAccount = heldOf.get(account) ?? 0;
    if (ofAccount >= maxHeld.ofAccount || held.size >= maxHeld.total) return ctx.set('Connection', 'close');
    const released = new AbortController();
    const release = () => released.abort();
    ctx.res.once('close', release);
    held.add(released);
    heldOf.set(account, ofAccount + 1);
    onHeld();
    const { signal } = released;
    for (let left = ms; left > 0 && !signal.aborted; left = until - performance.now()) {
      if (!accounts.areOthersServed(account, performance.now())) break;
      await delay(Math.min(left, checkMs), undefined, { signal }).catch(() => {});
    }
    ctx.res.off('close', release);
    held.delete(released);
    const left = (heldOf.get(account) as number) - 1;
    if (left > 0) heldOf.set(account, left);
    else heldOf.delete(account);
  }

  return {
    async pace(ctx, next) {
      const payer = { account: clientNetwork(ctx), isTrusted: false };
      const request: PacedRequest = { work: meter.begin(), payer, accounts };
      ctx.state.paced = request;
      accounts.enter(payer.account);
      try {
        await next();
      } finally {
        const cost = request.work.end();
        const { account, isTrusted } = request.payer;
        const now = performance.now();
        const isTooMany = ctx.status === 429;
        const isCharged = !isTrusted || isTooMany;
        const ms = isCharged
          ? accounts.charge(account, isTooMany ? Math.max(cost, tooManyCostMs) : cost, now)
          : 0;
        accounts.leave(account, now);
        const isHeld = ms > 0 && !isStopping && !ctx.res.destroyed;
        if (isHeld && accounts.areOthersServed(account, now)) await hold(ctx, account, ms);
      }
    },
    stop() {
      isStopping = true;
      for (const released of held) released.abort();
    },
  };
}

/**
 * Charges the rest of a request to its caller instead of its network: a transaction has a share of its own,
 * so that people behind one address do not wait for each other; credentials of the organisation are trusted.
 */
export function chargeTo(ctx: Context, { roles, account }: Pick<Principal, 'roles' | 'account'>): void {
  const request = ctx.state.paced as PacedRequest | undefined;
  if (!request || roles.includes('anonymous')) return;
  request.accounts.leave(request.payer.account, performance.now());
  request.payer = { account, isTrusted: !roles.includes('transaction') };
  request.accounts.enter(account);
}

/** Charges a request for work outside its own turns of the event loop, in milliseconds. */
export function chargeFor(ctx: Context, ms: number): void {
  (ctx.state.paced as PacedRequest | undefined)?.work.add(ms);
}

/** Does not charge a request for a wait, such as that for its body. */
export async function withoutCharge<Result>(ctx: Context, wait: () => Promise<Result>): Promise<Result> {
  const work = (ctx.state.paced as PacedRequest | undefined)?.work;
  work?.pause();
  try {
    return await wait();
  } finally {
    work?.resume();
  }
}
