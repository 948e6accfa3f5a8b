/** PAUSED: nothing is sent, events wait; only people end it. */
export type WebhookState = 'ACTIVE' | 'PAUSED';

/** An endpoint of somebody else's that is told of events. */
export interface Webhook {
  id: string;
  name: string;
  targetUrl: string;
  /** As they were given, older names included. */
  subscribedActions: readonly string[];
  state: WebhookState;
  stateSince: Date;
  /** Since when nothing has got through; null: the last attempt did. */
  failingSince: Date | null;
  /** In words of ours. */
  lastError: string | null;
  lastErrorCode: number | null;
  lastErrorAt: Date | null;
  createdAt: Date;
  modifiedAt: Date;
}

/** PENDING: it is or will be tried; FAILED: its attempts are used up. */
export type DeliveryStatus = 'PENDING' | 'DELIVERED' | 'FAILED';

/** One event for one webhook. */
export interface Delivery {
  id: string;
  webhook: string;
  action: string;
  /** The id of what the event is about. */
  sourceId: string;
  redelivery: boolean;
  status: DeliveryStatus;
  attempts: number;
  /** When it is tried next; null unless PENDING. */
  nextAttemptAt: Date | null;
  statusCode: number | null;
  durationMs: number | null;
  error: string | null;
  createdAt: Date;
  deliveredAt: Date | null;
}
