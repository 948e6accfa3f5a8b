import { wholeNumber } from '#lib/config/validators.ts';

/**
 * Thresholds above which requests wait, and are then rejected with 503 (lib/http/admission.ts); 0 switches a limit off. The defaults were measured with
 * bench/overload.ts.
 */
export const overloadSpecs = {
  /** Requests that are worked on at once. */
  MAX_IN_FLIGHT: wholeNumber({ default: 64 }),
  /** Milliseconds that the event loop may be behind. */
  MAX_EVENT_LOOP_DELAY: wholeNumber({ default: 500 }),
  /** Milliseconds that a request may wait for a place. */
  MAX_QUEUE_WAIT: wholeNumber({ default: 2_000 }),
};
