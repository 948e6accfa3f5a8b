import type { LayoutReference } from '#lib/contracts/forms.ts';
import type { Fault } from '#lib/errors/fail.ts';

/** How the answers were collected; kept on records (docs/interface.md, "The consent context"). */
export const origins = ['WEBFORM', 'OPERATOR', 'USER', 'EMAIL', 'RECEIPT'] as const;

/** PEER: a peer showed the form. IMPORTED: taken over from another system. Callers can set neither. */
export type Origin = (typeof origins)[number] | 'PEER' | 'IMPORTED';

/** How the subject confirms the answers (docs/interface.md, "Confirmation codes"). */
export const confirmations = ['NONE', 'FORM_CODE', 'EMAIL_CODE', 'SMS_CODE'] as const;

/** How answers were given that an organisation records on behalf of a subject. */
export const collectionWays = ['PAPER', 'TELEPHONE', 'PERSON', 'LETTER', 'OTHER'] as const;

/** By which way an invitation is sent (openapi.yaml, `InvitationInput`). */
export const invitationChannels = ['EMAIL', 'SMS'] as const;

export type InvitationChannel = (typeof invitationChannels)[number];

export interface Collection {
  way: (typeof collectionWays)[number];
  /** RFC 3339, full-date. */
  givenOn?: string;
  reference?: string;
  /** SHA-256 of an uploaded scan, in lower-case hexadecimal digits. */
  document?: string;
}

export type Confirmation = (typeof confirmations)[number];

/** A ConsentContext (docs/interface.md, "The consent context"): defaults filled in, empty fields left out. */
export interface ConsentContext {
  subject: string;
  layout?: string;
  layoutData?: Record<string, unknown>;
  language?: string;
  origin: Origin;
  author?: string;
  object?: string;
  /** Absent: the answers hold as long as their elements say (`validityOf`). */
  validity?: string;
  callback?: string;
  callbackTriggerDelay: number;
  iframeOrigin?: string;
  confirmation: Confirmation;
  confirmationConfig?: Record<string, string>;
  subjectInfos?: Record<string, string>;
  attributes?: Record<string, string>;
  collection?: Collection;
  updatable: boolean;
  cancellable: boolean;
  silent: boolean;
  /** Only the elements without a valid answer are asked; absent: all, or those that the layout says. */
  ask?: 'CHANGED';
  theme?: string;
  notification?: string;
  /** Address of the notification, bad news and news of withdrawals if `subjectInfos` has none. */
  notificationRecipient?: string;
  sendInvitation: boolean;
  /** Absent: EMAIL. */
  invitationChannel?: InvitationChannel;
  peerCommit: 'independent' | 'together';
  timeout: string;
}

export type ContextField = keyof ConsentContext;

/** Configured channels of messages, with the senders that a context may name; null if not configured. */
export interface Channels {
  mail: { senders: readonly string[] } | null;
  sms: { senders: readonly string[] } | null;
}

/**
 * A valid context. `addressFault`: its `emailAddress` is malformed, but no member of the context needs it.
 * The fault counts if the layout names a notification.
 */
export interface ReadContext {
  /** As it was sent; {@link withLayoutContext} reads it once more. */
  sent: Readonly<Record<string, unknown>>;
  context: ConsentContext;
  addressFault?: Fault;
  /** False: a plain user named an address for mails that the account is not known to have. */
  isAddressKnown: boolean;
}

/** The members of a context that the forms service needs to resolve its layout. */
export function layoutReference({
  layout,
  layoutData,
  theme,
  notification,
}: ConsentContext): LayoutReference {
  return { layout, layoutData, theme, notification };
}

/** Defaults of the fields that have one. */
export const contextDefaults = {
  origin: 'WEBFORM',
  callbackTriggerDelay: 4000,
  confirmation: 'NONE',
  updatable: true,
  cancellable: false,
  silent: false,
  sendInvitation: false,
  peerCommit: 'independent',
  timeout: 'P7D',
} as const satisfies Partial<ConsentContext>;
