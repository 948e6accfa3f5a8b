import type { Fault } from '#lib/errors/fail.ts';

/** How the answers were collected; kept on records (docs/interface.md, "The consent context"). */
export const origins = ['WEBFORM', 'OPERATOR', 'USER', 'EMAIL', 'RECEIPT'] as const;
/** PEER: the form was shown by a partner instance; no caller may say so. */
export type Origin = (typeof origins)[number] | 'PEER';

/** The validation step. */
export const confirmations = ['NONE', 'FORM_CODE', 'EMAIL_CODE', 'SMS_CODE'] as const;
export type Confirmation = (typeof confirmations)[number];

/** A ConsentContext (interface.md), normalised: every default filled in, empty fields left out. */
export interface ConsentContext {
  subject: string;
  layout?: string;
  layoutData?: Record<string, unknown>;
  language?: string;
  origin: Origin;
  author?: string;
  object?: string;
  validity: string;
  callback?: string;
  callbackTriggerDelay: number;
  iframeOrigin?: string;
  confirmation: Confirmation;
  confirmationConfig?: Record<string, string>;
  subjectInfos?: Record<string, string>;
  attributes?: Record<string, string>;
  updatable: boolean;
  cancellable: boolean;
  silent: boolean;
  theme?: string;
  notification?: string;
  sendInvitation: boolean;
  peerCommit: 'independent' | 'together';
  timeout: string;
}

/** A value of a context and where it was given. */
export interface Given {
  value: unknown;
  pointer: string;
}

/** A context as it was sent, or the faults that keep it from being one. */
export type ContextResult = { context: ConsentContext } | { faults: Fault[]; unavailable: boolean };
