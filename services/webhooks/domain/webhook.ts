import { Temporal } from 'temporal-polyfill';
import { type Fault, fail } from '#lib/errors/fail.ts';
import { readBoundedText } from '#lib/text/nfc.ts';
import { isName, nameRule } from '#lib/text/visible-text.ts';
import type { Outcome } from './acknowledgement.ts';
import { actionNames, isAction } from './actions.ts';

/** A subscription: an endpoint and the events that it receives. */
export interface Webhook {
  id: string;
  name: string;
  targetUrl: string;
  /** As given, older names included. */
  subscribedActions: readonly string[];
  /** The organisation's name, shown to people whose consents are withdrawn; null: none is shown. */
  recipient: string | null;
  /** Keys of the elements whose withdrawal is sent; null: all. */
  elements: readonly string[] | null;
  /** ISO 8601; null: no acknowledgement of withdrawals and erasures is expected. */
  acknowledgeWithin: string | null;
  /** PAUSED: only test messages are sent, and events wait; only a caller can resume it. */
  state: 'ACTIVE' | 'PAUSED';
  stateSince: Date;
  /** First failure since the last success; null if the last attempt succeeded. */
  failingSince: Date | null;
  lastError: string | null;
  lastErrorCode: number | null;
  lastErrorAt: Date | null;
  createdAt: Date;
  modifiedAt: Date;
}

/** One event for one webhook. */
export interface Delivery {
  id: string;
  webhook: string;
  action: string;
  /** The subject of the event, for example a transaction id. */
  sourceId: string;
  redelivery: boolean;
  /** PENDING: due now or later. FAILED: no attempt is left. */
  status: 'PENDING' | 'DELIVERED' | 'FAILED';
  attempts: number;
  /** Null unless PENDING. */
  nextAttemptAt: Date | null;
  statusCode: number | null;
  durationMs: number | null;
  error: string | null;
  createdAt: Date;
  deliveredAt: Date | null;
  /** The outcome that the receiver has acknowledged. */
  acknowledged: Outcome | null;
}

/** Deliveries that a list contains; absent members and undefined ones exclude nothing. */
export interface DeliveryFilter {
  statuses?: readonly Delivery['status'][] | undefined;
  actions?: readonly string[] | undefined;
  sourceId?: string | undefined;
}

export const deliveryStatuses: readonly Delivery['status'][] = ['PENDING', 'DELIVERED', 'FAILED'];

/** Members of a webhook that a client can set. */
export type WebhookSettings = Pick<
  Webhook,
  'name' | 'targetUrl' | 'subscribedActions' | 'recipient' | 'elements' | 'acknowledgeWithin'
>;

/** What a client can set; absent members stay unchanged, empty ones become null. */
export interface WebhookInput {
  name?: string;
  targetUrl?: string;
  subscribedActions?: string[];
  recipient?: string;
  elements?: string[];
  acknowledgeWithin?: string;
}

const maxName = 255;
const maxUrl = 2048;

/**
 * Validates a client's input: trims, normalises names to NFC, removes repeated actions and keys.
 * @param targetRefusal why the URL must not be called; undefined if it may be.
 * @returns the given members. @throws Failure `invalid` with every fault.
 */
export function readWebhook(
  input: WebhookInput,
  targetRefusal: string | undefined,
): Partial<WebhookSettings> {
  const faults: Fault[] = [];
  const refuse: Refuse = (pointer, detail) => faults.push({ pointer, code: 'invalid', detail });
  const name = input.name === undefined ? undefined : readBoundedText(input.name, maxName);
  if (input.name !== undefined && !(name && isName(name)))
    refuse('/name', `Must have 1 to ${maxName} characters, ${nameRule}.`);
  const targetUrl = input.targetUrl?.trim();
  if (targetRefusal) refuse('/targetUrl', targetRefusal);
  else if (targetUrl !== undefined && targetUrl.length > maxUrl)
    refuse('/targetUrl', `Must have at most ${maxUrl} characters.`);
  input.subscribedActions?.forEach((action, index) => {
    if (!isAction(action))
      refuse(`/subscribedActions/${index}`, `Must be one of: ${actionNames.join(', ')}.`);
  });
  if (input.subscribedActions?.length === 0)
    refuse('/subscribedActions', 'Must contain at least one action.');
  const recipient = readRecipient(input, refuse);
  if (faults.length > 0) throw fail('invalid', 'The webhook is not valid.', { errors: faults });
  return {
    ...(name === undefined ? {} : { name }),
    ...(targetUrl === undefined ? {} : { targetUrl }),
    ...(input.subscribedActions ? { subscribedActions: [...new Set(input.subscribedActions)] } : {}),
    ...recipient,
  };
}

type Refuse = (pointer: string, detail: string) => void;

const keyPattern = /^[0-9A-Za-z_.-]{2,255}$/;

/** Reads the members about the organisation behind the endpoint. */
function readRecipient(input: WebhookInput, refuse: Refuse): Partial<WebhookSettings> {
  const recipient = input.recipient === undefined ? undefined : readBoundedText(input.recipient, maxName);
  if (input.recipient !== undefined && (recipient === undefined || (recipient !== '' && !isName(recipient))))
    refuse('/recipient', `Must have at most ${maxName} characters, ${nameRule}.`);
  const elements = input.elements?.map((key) => key.trim());
  elements?.forEach((key, index) => {
    if (!keyPattern.test(key)) refuse(`/elements/${index}`, 'Must be the key of an element.');
  });
  const given = input.acknowledgeWithin?.trim();
  const acknowledgeWithin = given ? readPeriod(given) : given;
  if (given !== undefined && acknowledgeWithin === undefined)
    refuse('/acknowledgeWithin', 'Must be an ISO 8601 duration of at most P30D, such as P2D.');
  return {
    ...(recipient === undefined ? {} : { recipient: recipient || null }),
    ...(elements && { elements: elements.length > 0 ? [...new Set(elements)] : null }),
    ...(acknowledgeWithin === undefined ? {} : { acknowledgeWithin: acknowledgeWithin || null }),
  };
}

const maxPeriodSeconds = 30 * 86_400;

/** The canonical form of a duration; undefined unless it is one of up to 30 days. */
function readPeriod(text: string): string | undefined {
  try {
    const duration = Temporal.Duration.from(text);
    // A fixed date, so that a month is the same on every day.
    const seconds = duration.total({ unit: 'seconds', relativeTo: Temporal.PlainDate.from('2001-01-01') });
    return seconds >= 1 && seconds <= maxPeriodSeconds ? duration.toString() : undefined;
  } catch {
    return undefined;
  }
}

/** An acknowledgement is shown to people under the organisation's name. @throws Failure `invalid`. */
export function requireName({ recipient, acknowledgeWithin }: WebhookSettings): void {
  if (acknowledgeWithin === null || recipient !== null) return;
  throw fail('invalid', 'The webhook is not valid.', {
    errors: [{ pointer: '/acknowledgeWithin', code: 'invalid', detail: 'Needs `recipient`.' }],
  });
}
