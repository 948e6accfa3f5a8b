import type { ActiveVersions, LayoutReference, PinnedLayout } from '#lib/contracts/forms.ts';
import type { Fault } from '#lib/errors/fail.ts';
import { sha256Canonical } from './answers.ts';
import { type ContextField, collectFields } from './context-fields.ts';
import {
  invalid,
  isFault,
  longestValidity,
  parseHttpUrl,
  parseLanguage,
  parseOrigin,
  parseText,
  readDuration,
} from './values.ts';

/** How the answers were collected; kept on records (docs/interface.md, "The consent context"). */
export const origins = ['WEBFORM', 'OPERATOR', 'USER', 'EMAIL', 'RECEIPT'] as const;
/** PEER: a peer showed the form; callers cannot set it. */
export type Origin = (typeof origins)[number] | 'PEER';

/** The validation step. */
const confirmations = ['NONE', 'FORM_CODE', 'EMAIL_CODE', 'SMS_CODE'] as const;

/** A ConsentContext (docs/interface.md, "The consent context"): defaults filled in, empty fields left out. */
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
  confirmation: (typeof confirmations)[number];
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

/** `unavailable`: valid, but it needs a feature that this instance does not have. */
export type ContextResult = { context: ConsentContext } | { faults: Fault[]; unavailable: boolean };

/** The members of a context that the forms service needs to resolve its layout. */
export function layoutReference({ layout, layoutData, theme }: ConsentContext): LayoutReference {
  return { layout, layoutData, theme };
}

/** Defaults of the fields that have one. */
export const contextDefaults = {
  origin: 'WEBFORM',
  validity: 'P6M',
  callbackTriggerDelay: 4000,
  confirmation: 'NONE',
  updatable: true,
  cancellable: false,
  silent: false,
  sendInvitation: false,
  peerCommit: 'independent',
  timeout: 'P7D',
} as const satisfies Partial<ConsentContext>;

/** Parses a ConsentContext and reports all faults at once (docs/interface.md, "The consent context"). */
export function parseContext(body: Record<string, unknown>): ContextResult {
  const { fields, faults } = collectFields(body);
  const context: Partial<Record<ContextField, unknown>> = { ...contextDefaults };
  for (const [name, given] of fields) {
    const value = readers[name]?.(given) ?? given.value;
    if (isFault(value)) faults.push(value);
    else context[name] = value;
  }
  const fault = (pointer: string, code: string, detail: string) => faults.push({ pointer, code, detail });
  if (!fields.has('subject') && !faults.some(({ pointer }) => pointer === '/subject'))
    fault('/subject', 'required', 'must be a text of 1 to 1,024 characters');
  if (fields.has('layout') && fields.has('layoutData'))
    fault('/layoutData', 'layout-conflict', 'must not be set beside layout');
  if (!fields.has('layout') && !fields.has('layoutData'))
    fault('/layout', 'layout-conflict', 'one of layout and layoutData must be set');
  if (faults.length > 0) return { faults, unavailable: false };
  const missing = unavailableFeatures(context as unknown as ConsentContext, fields);
  if (missing.length > 0) return { faults: missing, unavailable: true };
  return { context: context as unknown as ConsentContext };
}

type Reader = (given: Given) => unknown | Fault;

const oneOf =
  (allowed: readonly string[], what: string): Reader =>
  ({ value, pointer }) =>
    allowed.includes(String(value))
      ? value
      : invalid(pointer, `${what} must be one of ${allowed.join(', ')}`);

const duration =
  (most: string): Reader =>
  ({ value, pointer }) => {
    const read = readDuration(String(value), most);
    return 'fault' in read ? invalid(pointer, read.fault) : read.text;
  };

const readers: Partial<Record<ContextField, Reader>> = {
  subject: (given) => parseText(given, 1024),
  author: (given) => parseText(given, 255),
  object: (given) => parseText(given, 255),
  language: parseLanguage,
  origin: oneOf(origins, 'origin'),
  validity: duration(longestValidity),
  timeout: duration('P90D'),
  callback: parseHttpUrl,
  callbackTriggerDelay: ({ value, pointer }) =>
    Number(value) >= 0 && Number(value) <= 600_000 ? value : invalid(pointer, 'must be 0 to 600,000 ms'),
  iframeOrigin: parseOrigin,
  confirmation: oneOf(confirmations, 'confirmation'),
  peerCommit: oneOf(['independent', 'together'], 'peerCommit'),
};

/** Features that need mail and codes, which are not implemented (openapi.yaml says so too). */
function unavailableFeatures(context: ConsentContext, fields: Map<ContextField, Given>): Fault[] {
  const faults: Fault[] = [];
  const missing = (name: ContextField, wanted: boolean, what: string) => {
    if (wanted)
      faults.push({
        pointer: fields.get(name)?.pointer ?? `/${name}`,
        code: 'not-available',
        detail: `${what} is not available on this instance yet`,
      });
  };
  missing('confirmation', context.confirmation !== 'NONE', `confirmation ${context.confirmation}`);
  missing('sendInvitation', context.sendInvitation, 'sendInvitation');
  missing('notification', context.notification !== undefined, 'notification');
  return faults;
}

/**
 * The digest by which two contexts are equal (docs/interface.md, "Duplicate creation"): SHA-256 over the
 * canonical JSON (RFC 8785) of the context with its layout resolved and the ACTIVE MAJOR of each element.
 * Author, sendInvitation and the form of the layout (`elements` or `blocs`) do not count.
 */
export function contextDigest(context: ConsentContext, layout: PinnedLayout, active: ActiveVersions): Buffer {
  const { author, sendInvitation, layout: _saved, layoutData, ...counted } = context;
  const withMajor = (key: string) => [key, active[key]?.major ?? null];
  const { id, blocs, ...options } = layout;
  const resolved = { ...options, info: withMajor(layout.info), elements: layout.elements.map(withMajor) };
  return sha256Canonical({ ...counted, layout: resolved });
}
