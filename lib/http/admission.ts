import type { Context, Middleware } from 'koa';
import { type Failure, fail } from '#lib/errors/fail.ts';
import {
  type AdmissionLimits,
  createAdmissionLimits,
  type Pool,
  type Priority,
  priorities,
} from '#lib/http/admission-limits.ts';
import { type AdmissionQueue, createAdmissionQueues } from '#lib/http/admission-queue.ts';
import { clientNetwork } from '#lib/http/client-address.ts';
import type { ContractOperation } from '#lib/http/operation.ts';
import { withoutCharge } from '#lib/http/pacer.ts';
import { type BodyBudgets, createBodyBudgets } from '#lib/http/request-body.ts';
import type { HttpMetrics } from '#lib/observability/metrics/http-metrics.ts';

/** Thresholds above which requests wait or are rejected. 0 switches a limit off. */
export interface OverloadLimits {
  /** Requests in flight. */
  inFlight: number;
  /** Delay of the event loop in milliseconds. */
  delayMs: number;
  /** How long a request may wait for a slot, in milliseconds; 0 rejects it at once. */
  waitMs: number;
}

/** An admitted request's slot. */
export interface Slot {
  readonly isHeld: boolean;
  /** Releases the slot, for a while or at the end of the request. Idempotent. */
  release(): void;
  /**
   * Takes a slot again. Never rejected, because the request has been admitted; a promise if it has to wait.
   */
  acquire(): void | Promise<void>;
  /** Memory budgets of the bodies that are still arriving. */
  bodies: BodyBudgets;
}

/**
 * Admits a request as soon as there is a slot for its priority.
 * @param from.client the network that it comes from: clients share the slots. @param from.response tells
 * whether the client has disconnected.
 * @throws Failure `unavailable` with Retry-After if the request would wait too long.
 */
export type Admit = (
  operation: Pick<ContractOperation, 'x-priority'>,
  from?: { client?: string; response?: { readonly destroyed: boolean } },
) => Slot | Promise<Slot>;

/** Keeps a process from taking on more than it can finish; shared by its services (ADR 9). */
export interface OverloadGuard {
  admitFor(service: string): Admit;
  load(): {
    inFlight: number;
    queued: Record<Priority, number>;
    /** Milliseconds since a request of a client other than a peer was in flight; 0 while there is one. */
    sinceOthersMs: number;
    delayMs: number;
  };
}

interface GuardOptions {
  limits: OverloadLimits;
  /** Delay of the event loop in milliseconds. */
  readDelay: () => number;
  metrics?: Pick<HttpMetrics, 'refused' | 'waited'>;
}

/** Values of Retry-After, in turn: clients that were rejected together must not return together. */
const retryAfterSeconds = [1, 2, 3];

/** Makes the guard of one process. Probes and metrics are served without it. */
export function createOverloadGuard({ limits, readDelay, metrics }: GuardOptions): OverloadGuard {
  const slots = createAdmissionLimits({ limits, readDelay });
  const { arriving, admitWaiting, takeSlot } = createSlots(slots, limits.waitMs);
  const nextRefusal = createRefusals();
  return {
    admitFor:
      (service) =>
      (operation, { client = '', response } = {}) => {
        const priority = operation['x-priority'] ?? 'normal';
        admitWaiting();
        const reason = slots.reasonToRefuse(priority);
        if (!reason) return takeSlot(priority, client);
        const isGone = () => response?.destroyed === true;
        const refusal = () => {
          if (!isGone()) metrics?.refused({ service, priority, reason });
          return nextRefusal();
        };
        if (limits.waitMs === 0) throw refusal();
        const since = performance.now();
        return new Promise<Slot>((resolve, reject) => {
          const admit = () => {
            metrics?.waited({ priority, ms: performance.now() - since });
            resolve(takeSlot(priority, client));
          };
          arriving[priority].push({ client, isGone, admit, refuse: () => reject(refusal()) });
        });
      },
    load: () => ({
      inFlight: slots.inFlight(),
      sinceOthersMs: slots.sinceOthersMs(),
      delayMs: readDelay(),
      queued: Object.fromEntries(
        priorities.map((priority) => [priority, arriving[priority].length()]),
      ) as Record<Priority, number>,
    }),
  };
}

/** Requests that released their slot for a while are served before new ones, and wait without a limit. */
function createSlots(limits: AdmissionLimits, waitMs: number) {
  const held = new Map<string, number>();
  const queues = createAdmissionQueues((client) => held.get(client) ?? 0);
  const bodies = createBodyBudgets();
  const addReturning = (pool: Pool) => queues.add(Number.POSITIVE_INFINITY, () => limits.isFull(pool));
  const addArriving = (priority: Priority) =>
    queues.add(waitMs, () => limits.reasonToRefuse(priority) !== undefined);
  // Queues are served in the order in which they are added.
  const others = addReturning('others');
  const [high, normal, low] = [addArriving('high'), addArriving('normal'), addArriving('low')];
  const returning: Record<Pool, AdmissionQueue> = { others, peers: addReturning('peers') };
  const arriving: Record<Priority, AdmissionQueue> = { high, normal, low, peer: addArriving('peer') };

  function count(client: string, change: 1 | -1): void {
    const now = (held.get(client) ?? 0) + change;
    if (now > 0) held.set(client, now);
    else held.delete(client);
  }

  function takeSlot(priority: Priority, client: string): Slot {
    const pool = priority === 'peer' ? 'peers' : 'others';
    const take = () => {
      limits.take(pool);
      count(client, 1);
    };
    take();
    const slot = {
      isHeld: true,
      bodies,
      release() {
        if (!slot.isHeld) return;
        slot.isHeld = false;
        limits.release(pool);
        count(client, -1);
        queues.admitWaiting();
      },
      acquire() {
        if (slot.isHeld) return;
        slot.isHeld = true;
        if (!limits.isFull(pool)) return take();
        return new Promise<void>((resolve) => {
          const admit = () => resolve(take());
          returning[pool].push({ client, admit, refuse: admit, isGone: () => false });
        });
      },
    };
    return slot;
  }
  return { arriving, admitWaiting: queues.admitWaiting, takeSlot };
}

function createRefusals(): () => Failure {
  let refusals = 0;
  return () => {
    refusals += 1;
    return fail('unavailable', 'The service is overloaded. Please try again.', {
      headers: { 'Retry-After': String(retryAfterSeconds[refusals % retryAfterSeconds.length]) },
      overload: true,
    });
  };
}

/** Admits requests to paths that are not in the contract, and to everything below these paths. */
export function admitRequests(admit: Admit | undefined, prefixes: readonly string[]): Middleware {
  return async (ctx, next) => {
    const isGuarded = prefixes.some((prefix) => ctx.path === prefix || ctx.path.startsWith(`${prefix}/`));
    if (!admit || !isGuarded) return next();
    const admitted = admit({}, { client: clientNetwork(ctx), response: ctx.res });
    const slot = admitted instanceof Promise ? await withoutCharge(ctx, () => admitted) : admitted;
    ctx.state.slot = slot;
    try {
      await next();
    } finally {
      slot.release();
    }
  };
}

/**
 * Releases the request's slot, and does not charge the request, while its body arrives or while it waits for
 * its turn or for a delay.
 */
export function whileIdle<Result>(ctx: Context, wait: () => Promise<Result>): Promise<Result> {
  return withoutCharge(ctx, async () => {
    const slot = ctx.state.slot as Slot | undefined;
    if (!slot?.isHeld) return wait();
    slot.release();
    try {
      return await wait();
    } finally {
      await slot.acquire();
    }
  });
}

/** Takes a slot for a piece of a response that is made while it is being sent. */
export async function withSlot<Result>(ctx: Context, work: () => Promise<Result>): Promise<Result> {
  const slot = ctx.state.slot as Slot | undefined;
  if (!slot || slot.isHeld) return work();
  await slot.acquire();
  try {
    return await work();
  } finally {
    slot.release();
  }
}
