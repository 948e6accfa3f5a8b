import type { Fault } from '#lib/errors/fail.ts';
import { type ConsentContext, type ContextResult, confirmations, type Given, origins } from './context.ts';
import { longestValidity, readDuration } from './duration.ts';
import { type ContextField, gatherFields } from './gather-fields.ts';
import { isFault, parseHttpUrl, parseLanguage, parseOrigin, parseText } from './parse-values.ts';

const later = 'is not available on this instance yet';

/**
 * Reads a ConsentContext: every field checked, every fault told at once (docs/interface.md, "The consent context").
 * `unavailable` is true if nothing is wrong but a feature that this instance does not have.
 */
export function parseContext(body: Record<string, unknown>): ContextResult {
  const { fields, faults } = gatherFields(body);
  const context: Partial<Record<ContextField, unknown>> = {
    origin: 'WEBFORM', validity: 'P6M', callbackTriggerDelay: 4000, confirmation: 'NONE', updatable: true, cancellable: false,
    silent: false, sendInvitation: false, peerCommit: 'independent', timeout: 'P7D',
  }; // biome-ignore format: one glance
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
    fault('/layout', 'layout-conflict', 'either layout or layoutData must be set');
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
      : { pointer, code: 'invalid', detail: `${what} must be one of ${allowed.join(', ')}` };

const duration =
  (most: string): Reader =>
  ({ value, pointer }) => {
    const read = readDuration(String(value), most);
    return 'fault' in read ? { pointer, code: 'invalid', detail: read.fault } : read.text;
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
    Number(value) >= 0 && Number(value) <= 600_000
      ? value
      : { pointer, code: 'invalid', detail: 'must be 0 to 600,000 ms' },
  iframeOrigin: parseOrigin,
  confirmation: oneOf(confirmations, 'confirmation'),
  peerCommit: oneOf(['independent', 'together'], 'peerCommit'),
};

/** What comes with mail and codes (openapi.yaml says so too). */
function unavailableFeatures(context: ConsentContext, fields: Map<ContextField, Given>): Fault[] {
  const faults: Fault[] = [];
  const missing = (name: ContextField, wanted: boolean, what: string) => {
    if (wanted)
      faults.push({
        pointer: fields.get(name)?.pointer ?? `/${name}`,
        code: 'not-available',
        detail: `${what} ${later}`,
      });
  };
  missing('confirmation', context.confirmation !== 'NONE', `confirmation ${context.confirmation}`);
  missing('sendInvitation', context.sendInvitation, 'sendInvitation');
  missing('notification', context.notification !== undefined, 'notification');
  return faults;
}
