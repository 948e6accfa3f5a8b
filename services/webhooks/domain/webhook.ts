import { type Fault, fail } from '#lib/errors/fail.ts';
import { readBoundedText } from '#lib/text/nfc.ts';
import { actionNames, isAction } from './actions.ts';

/** A subscription: an endpoint and the events that it receives. */
export interface Webhook {
  id: string;
  name: string;
  targetUrl: string;
  /** As given, older names included. */
  subscribedActions: readonly string[];
  /** PAUSED: nothing is sent and events wait; only a user can resume it. */
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
}

/** Deliveries that a list contains; absent members and undefined ones exclude nothing. */
export interface DeliveryFilter {
  statuses?: readonly Delivery['status'][] | undefined;
  actions?: readonly string[] | undefined;
  sourceId?: string | undefined;
}

export const deliveryStatuses: readonly Delivery['status'][] = ['PENDING', 'DELIVERED', 'FAILED'];

/** What a client can set; absent members stay unchanged. */
export interface WebhookInput {
  name?: string;
  targetUrl?: string;
  subscribedActions?: string[];
}

const maxName = 255;
const maxUrl = 2048;

/**
 * Validates a client's input: trims, normalises names to NFC, removes repeated actions.
 * @param targetRefusal why the URL must not be called; undefined if it may be.
 * @throws Failure `invalid` with every fault.
 */
export function readWebhook<T extends WebhookInput>(input: T, targetRefusal: string | undefined): T {
  const faults: Fault[] = [];
  const refuse = (pointer: string, detail: string) => faults.push({ pointer, code: 'invalid', detail });
  const name = input.name === undefined ? undefined : readBoundedText(input.name, maxName);
  if (input.name !== undefined && !name) refuse('/name', `Must have 1 to ${maxName} characters.`);
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
  if (faults.length > 0) throw fail('invalid', 'The webhook is not valid.', { errors: faults });
  return {
    ...input,
    ...(name === undefined ? {} : { name }),
    ...(targetUrl === undefined ? {} : { targetUrl }),
    ...(input.subscribedActions ? { subscribedActions: [...new Set(input.subscribedActions)] } : {}),
  };
}
