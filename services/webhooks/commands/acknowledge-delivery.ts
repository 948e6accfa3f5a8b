import type { Database } from '#lib/db/database.ts';
import { fail } from '#lib/errors/fail.ts';
import type { AcknowledgementLinks, Outcome } from '../domain/acknowledgement.ts';
import { changeMessages, lockAcknowledgement } from '../queries/notices.ts';

/** The tables of notices are empty most of the time (ADR 14). */
const options = { indexPlans: true };

interface Dependencies {
  db: Database;
  links: AcknowledgementLinks;
  baseUrl: string;
  wakeRelay(): void;
}

/** An acknowledgement as its receiver sent it. */
export interface Acknowledgement {
  webhook: string;
  /** `webhook-id` */
  message: string;
  /** The parameter of the URL that was in the event. */
  t: string;
  outcome: Outcome;
  note: string | null;
}

/** Creates the command that records acknowledgements of withdrawals and erasures. */
export function createAcknowledge({ db, links, baseUrl, wakeRelay }: Dependencies) {
  /**
   * Idempotent; the note of the first acknowledgement stays.
   * @throws Failure `not-found` if `t` is wrong or the notice was deleted; `exists` after another outcome.
   */
  return async ({ webhook, message, t, outcome, note }: Acknowledgement): Promise<void> => {
    if (!links.matches(message, t)) throw deliveryNotFound();
    await db.withTransaction(async (tx) => {
      const known = await lockAcknowledgement(tx, { webhook, message });
      if (!known) throw deliveryNotFound();
      if (known.outcome === outcome) return;
      if (known.outcome !== null)
        throw fail('exists', `The outcome ${known.outcome} was already acknowledged.`);
      await changeMessages(tx, { messages: [message], state: 'ACKNOWLEDGED', outcome, note }, baseUrl);
    }, options);
    wakeRelay();
  };
}

export type Acknowledge = ReturnType<typeof createAcknowledge>;

function deliveryNotFound() {
  return fail('not-found', 'Delivery not found.');
}
