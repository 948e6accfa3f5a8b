import { LRUCache } from 'lru-cache';

/** Share of this process's time that one account may take while others are served. */
const share = 0.05;
/** What an account may take at once: some fifty requests, or a page with its files for as many people. */
const allowanceMs = 100;
/** The longest time that a response is held back. */
const maxHoldMs = 10_000;
/** Highest excess of an account that was served alone: it is paced at once when another one arrives. */
const excessAloneMs = 5;
/** What Node.js takes for a request before and after the application. */
const overheadMs = 0.5;
/** Others count as served for this long. */
const quietMs = 1_000;
/** Those that were charged longest ago are forgotten. */
const maxAccounts = 4_096;

/** Decides for how long responses are held back. Times are milliseconds of a monotonic clock. */
export interface PaceAccounts {
  /** A request is at work. Until {@link leave} others count as served, besides the account itself. */
  enter(account: string): void;
  leave(account: string, now: number): void;
  /** Whether another account was served within the last second. */
  areOthersServed(account: string, now: number): boolean;
  /** Accounts in memory. */
  size(): number;
  /** Charges a cost. @returns for how long its response is to be held back. */
  charge(account: string, cost: number, now: number): number;
}

/**
 * A leaky bucket for each account: a cost raises its level, which falls by {@link share} of the time. What
 * exceeds the allowance is waited for, so an account gets its share, however many connections it has. An
 * account beside which no other is served waits for nothing.
 */
export function createPaceAccounts(): PaceAccounts {
  const levels = new LRUCache<string, { level: number; at: number }>({ max: maxAccounts });
  /** Requests at work, by account. */
  const atWork = new Map<string, number>();
  /** The account that was served last, and when another one was. */
  let last = { account: '', at: Number.NEGATIVE_INFINITY };
  let otherAt = Number.NEGATIVE_INFINITY;

  function areOthersServed(account: string, now: number): boolean {
    if (atWork.size > (atWork.has(account) ? 1 : 0)) return true;
    return now - (last.account === account ? otherAt : last.at) < quietMs;
  }

  return {
    areOthersServed,
    size: () => levels.size + atWork.size,
    enter(account) {
      atWork.set(account, (atWork.get(account) ?? 0) + 1);
    },
    leave(account, now) {
      const left = (atWork.get(account) ?? 0) - 1;
      if (left > 0) atWork.set(account, left);
      else atWork.delete(account);
      if (last.account !== account) otherAt = last.at;
      last = { account, at: now };
    },
    charge(account, cost, now) {
      const { level, at } = levels.get(account) ?? { level: 0, at: now };
      const maxExcess = areOthersServed(account, now) ? maxHoldMs * share : excessAloneMs;
      const raised = Math.max(0, level - (now - at) * share) + cost + overheadMs;
      const reached = Math.min(raised, allowanceMs + maxExcess);
      levels.set(account, { level: reached, at: now });
      return Math.max(0, reached - allowanceMs) / share;
    },
  };
}
