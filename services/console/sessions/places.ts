import type { Context, Middleware } from 'koa';
import { createKeyedLimiter } from '#lib/async/keyed-limiter.ts';
import { fail } from '#lib/errors/fail.ts';
import { clientNetwork } from '#lib/http/client-address.ts';
import { withoutCharge } from '#lib/http/pacer.ts';
import { visitorOf } from './visitor.ts';

/**
 * Requests at a time, so that the console never slows down subjects. People have places of their own, which
 * no stranger can take.
 */
const limits = {
  people: { perKey: 4, total: 16, maxWaiting: 256 },
  strangers: { perKey: 2, total: 8, maxWaiting: 64 },
};
const maxWaitMs = 30_000;

/**
 * Lets a request wait for a place: a person for the person's other requests, a stranger for those of the same
 * network. Bodies have arrived before, and responses are sent after the place is free, so no client keeps one
 * by being slow.
 * @throws Failure `unavailable` if the wait is too long.
 */
export function takePlace(): Middleware {
  const people = createKeyedLimiter(limits.people);
  const strangers = createKeyedLimiter(limits.strangers);
  return async (ctx, next) => {
    const person = visitorOf(ctx)?.person;
    const signal = AbortSignal.any([AbortSignal.timeout(maxWaitMs), whenGone(ctx)]);
    const entered = person ? people.enter(person, signal) : strangers.enter(clientNetwork(ctx), signal);
    const leave = await withoutCharge(ctx, () => entered).catch(() => {
      throw fail('unavailable', 'Too many people use the console at the moment. Please try again.', {
        headers: { 'Retry-After': '2' },
        overload: true,
      });
    });
    try {
      await next();
    } finally {
      leave();
    }
  };
}

/** Aborts if the client disconnects before its response is sent. */
function whenGone(ctx: Context): AbortSignal {
  const gone = new AbortController();
  ctx.res.once('close', () => gone.abort());
  return gone.signal;
}
