import { createHmac, createSecretKey, hkdfSync, type KeyObject, timingSafeEqual } from 'node:crypto';
import { fail } from '#lib/errors/fail.ts';
import { readBoundedText } from '#lib/text/nfc.ts';

/**
 * What an organisation has done about a withdrawal or an erasure; `kept`: it keeps data, for example by law.
 */
export type Outcome = 'done' | 'kept';

/** Signs and checks the URLs to which receivers post acknowledgements. They need no other credentials. */
export interface AcknowledgementLinks {
  /** @param message `webhook-id` of the message that is acknowledged. */
  urlOf(webhook: string, message: string): string;
  /** Whether the parameter `t` belongs to the message. */
  matches(message: string, t: string): boolean;
}

/** @param keys `webhook-sealing`: keys are derived from them; the first signs, all check. */
export function createAcknowledgementLinks(
  keys: readonly Uint8Array[],
  baseUrl: string,
): AcknowledgementLinks {
  const derived = keys.map((key) =>
    createSecretKey(Buffer.from(hkdfSync('sha256', key, '', 'accord webhook acknowledgements', 32))),
  );
  const [own] = derived;
  if (!own) throw new Error('acknowledgements need a key');
  return {
    urlOf: (webhook, message) =>
      `${baseUrl}/webhooks/${webhook}/deliveries/${message}/acknowledge?t=${signature(own, message).toString('base64url')}`,
    matches(message, t) {
      const given = Buffer.from(t, 'base64url');
      return derived.some((key) => {
        const right = signature(key, message);
        return right.length === given.length && timingSafeEqual(right, given);
      });
    },
  };
}

function signature(key: KeyObject, message: string): Buffer {
  return createHmac('sha256', key).update(message).digest();
}

const maxNote = 500;

/** Reads the body of an acknowledgement; the outcome defaults to `done`. @throws Failure `invalid`. */
export function readAcknowledgement(given: { outcome?: Outcome; note?: string } | undefined): {
  outcome: Outcome;
  note: string | null;
} {
  const { outcome = 'done', note = '' } = given ?? {};
  const text = readBoundedText(note, maxNote);
  if (text === undefined)
    throw fail('invalid', 'The acknowledgement is not valid.', {
      errors: [{ pointer: '/note', code: 'invalid', detail: `Must have at most ${maxNote} characters.` }],
    });
  return { outcome, note: text === '' ? null : text };
}
