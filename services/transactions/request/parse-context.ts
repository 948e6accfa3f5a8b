import type { PinnedLayout } from '#lib/contracts/forms.ts';
import type { ActiveVersions } from '#lib/contracts/versions.ts';
import type { Fault } from '#lib/errors/fail.ts';
import { usualValidity } from '#lib/text/answer-validity.ts';
import { longestValidity, readDuration } from '#lib/text/duration.ts';
import { parseEmailAddress, parsePhoneNumber } from '../transaction/contact.ts';
import type {
  Channels,
  ConsentContext,
  ContextField,
  InvitationChannel,
  ReadContext,
} from '../transaction/context.ts';
import { confirmations, contextDefaults, invitationChannels, origins } from '../transaction/context.ts';
import { parseCollection } from '../transaction/parse-collection.ts';
import type { Given } from '../transaction/values.ts';
import {
  invalid,
  isFault,
  parseHttpUrl,
  parseLanguage,
  parseOrigin,
  parseSubject,
  parseText,
  sha256Canonical,
} from '../transaction/values.ts';

/** `unavailable`: valid, but it needs a channel that is not configured. */
export type ContextResult = ReadContext | { faults: Fault[]; unavailable: boolean };

/** Parses a ConsentContext and reports all faults at once (docs/interface.md, "The consent context"). */
export function parseContext(body: Record<string, unknown>, channels: Channels): ContextResult {
  const { fields, faults } = collectFields(body);
  const context: Partial<ConsentContext> = { ...contextDefaults };
  for (const [name, given] of fields) {
    const value = readers[name](given);
    if (isFault(value)) faults.push(value);
    else Object.assign(context, { [name]: value });
  }
  const fault = (pointer: string, code: string, detail: string) => faults.push({ pointer, code, detail });
  if (!fields.has('subject') && !faults.some(({ pointer }) => pointer === '/subject'))
    fault('/subject', 'required', 'must be a text of 1 to 1,024 characters');
  if (fields.has('layout') && fields.has('layoutData'))
    fault('/layoutData', 'layout-conflict', 'must not be set beside layout');
  if (!fields.has('layout') && !fields.has('layoutData'))
    fault('/layout', 'layout-conflict', 'one of layout and layoutData must be set');
  const complete = context as ConsentContext;
  const missing = unavailableChannels(complete, fields, channels);
  if (faults.length === 0 && missing.length > 0) return { faults: missing, unavailable: true };
  if (missing.length === 0) faults.push(...contactFaults(complete, fields, channels));
  if (faults.length > 0) return { faults, unavailable: false };
  const addressFault = readAddressFault(complete, fields);
  return { sent: body, context: complete, isAddressKnown: true, ...(addressFault && { addressFault }) };
}

function readAddressFault({ subjectInfos }: ConsentContext, fields: Fields): Fault | undefined {
  const { emailAddress } = subjectInfos ?? {};
  if (emailAddress === undefined) return undefined;
  const pointer = `${fields.get('subjectInfos')?.pointer ?? '/subjectInfos'}/emailAddress`;
  const address = parseEmailAddress({ value: emailAddress, pointer });
  return isFault(address) ? address : undefined;
}

type Reader = (given: Given) => unknown | Fault;

const oneOf =
  (allowed: readonly string[], what: string): Reader =>
  ({ value, pointer }) =>
    allowed.includes(String(value))
      ? value
      : invalid(pointer, `${what} must be one of ${allowed.join(', ')}`);

const duration =
  (max: string): Reader =>
  ({ value, pointer }) => {
    const read = readDuration(String(value), max);
    return 'fault' in read ? invalid(pointer, read.fault) : read.text;
  };

const asGiven: Reader = ({ value }) => value;

/** Fields that only the top level of a context has. */
export const topFields = ['subject', 'layout', 'layoutData'] as const;

/** Fields that may also stand in `configuration`. */
const configurationReaders: Record<Exclude<ContextField, (typeof topFields)[number]>, Reader> = {
  language: parseLanguage,
  origin: oneOf(origins, 'origin'),
  author: (given) => parseText(given, 255),
  object: (given) => parseText(given, 255),
  validity: duration(longestValidity),
  callback: parseHttpUrl,
  callbackTriggerDelay: ({ value, pointer }) =>
    Number(value) >= 0 && Number(value) <= 600_000 ? value : invalid(pointer, 'must be 0 to 600,000 ms'),
  iframeOrigin: parseOrigin,
  confirmation: oneOf(confirmations, 'confirmation'),
  confirmationConfig: asGiven,
  subjectInfos: asGiven,
  attributes: asGiven,
  collection: parseCollection,
  updatable: asGiven,
  cancellable: asGiven,
  silent: asGiven,
  ask: oneOf(['CHANGED'], 'ask'),
  theme: asGiven,
  notification: asGiven,
  notificationRecipient: parseEmailAddress,
  sendInvitation: asGiven,
  invitationChannel: oneOf(invitationChannels, 'invitationChannel'),
  peerCommit: oneOf(['independent', 'together'], 'peerCommit'),
  timeout: duration('P90D'),
};

/** Fields that may stand at the top level or in `configuration`. */
export const configurationFields = Object.keys(configurationReaders) as (keyof typeof configurationReaders)[];

const readers: Record<ContextField, Reader> = {
  subject: parseSubject,
  layout: asGiven,
  layoutData: asGiven,
  ...configurationReaders,
};

type Fields = ReadonlyMap<ContextField, Given>;

/** Faults of a context that needs a channel that is not configured; each names the setting. */
function unavailableChannels(context: ConsentContext, fields: Fields, { mail, sms }: Channels): Fault[] {
  const needed: [ContextField, boolean, unknown, string][] = [
    ['confirmation', context.confirmation === 'EMAIL_CODE', mail, 'mail, which is not configured (MAIL_URL)'],
    ['confirmation', context.confirmation === 'SMS_CODE', sms, 'SMS, which is not configured (SMS_URL)'],
    ['sendInvitation', invitesBy(context, 'EMAIL'), mail, 'mail, which is not configured (MAIL_URL)'],
    ['invitationChannel', invitesBy(context, 'SMS'), sms, 'SMS, which is not configured (SMS_URL)'],
    ['notification', context.notification !== undefined, mail, 'mail, which is not configured (MAIL_URL)'],
  ];
  return needed.flatMap(([name, isNeeded, channel, what]) =>
    isNeeded && !channel
      ? [{ pointer: fields.get(name)?.pointer ?? `/${name}`, code: 'not-available', detail: `needs ${what}` }]
      : [],
  );
}

function invitesBy(
  { sendInvitation, invitationChannel = 'EMAIL' }: ConsentContext,
  channel: InvitationChannel,
): boolean {
  return sendInvitation && invitationChannel === channel;
}

/** Faults of the addresses and senders that the messages of a context need. */
function contactFaults(context: ConsentContext, fields: Fields, { mail, sms }: Channels): Fault[] {
  const { confirmation, confirmationConfig = {}, subjectInfos = {}, notification } = context;
  const infos = fields.get('subjectInfos')?.pointer;
  const config = fields.get('confirmationConfig')?.pointer ?? '/confirmationConfig';
  const faults: (Fault | string)[] = [];
  const { emailAddress } = subjectInfos;
  const needed = (name: 'emailAddress' | 'phoneNumber', parse: (given: Given) => string | Fault) => {
    const parsed = parse({ value: subjectInfos[name] ?? '', pointer: `${infos}/${name}` });
    if (infos !== undefined || !isFault(parsed)) return parsed;
    return { ...parsed, pointer: '/subjectInfos', detail: `${name} ${parsed.detail}` };
  };
  const isNotified = notification !== undefined && emailAddress !== undefined;
  if (confirmation === 'EMAIL_CODE' || invitesBy(context, 'EMAIL') || isNotified)
    faults.push(needed('emailAddress', parseEmailAddress));
  if (confirmation === 'SMS_CODE' || invitesBy(context, 'SMS'))
    faults.push(needed('phoneNumber', parsePhoneNumber));
  for (const [name, channel] of [
    ['senderEmail', mail],
    ['senderPhone', sms],
  ] as const)
    if (confirmationConfig[name] !== undefined && !channel?.senders.includes(confirmationConfig[name]))
      faults.push(invalid(`${config}/${name}`, 'is not an allowed sender of this instance'));
  return faults.filter((fault) => typeof fault !== 'string');
}

/**
 * The digest by which two contexts are equal (docs/interface.md, "Duplicate creation"): SHA-256 over the
 * canonical JSON (RFC 8785) of the context with its layout resolved and the ACTIVE MAJOR of each element.
 * Author, invitation, notificationRecipient and the notation of the layout (`elements` or `blocs`) do not
 * count; whether mails may be sent to the address does.
 */
export function contextDigest(
  { context, isAddressKnown }: Pick<ReadContext, 'context' | 'isAddressKnown'>,
  layout: PinnedLayout,
  active: ActiveVersions,
): Buffer {
  const { author, sendInvitation, invitationChannel, notificationRecipient, ...rest } = context;
  const { layout: _saved, layoutData, ...given } = rest;
  const counted = { validity: usualValidity, ...given };
  const withMajor = (key: string) => [key, active[key]?.major ?? null];
  const { id, blocs, ...options } = layout;
  const resolved = { ...options, info: withMajor(layout.info), elements: layout.elements.map(withMajor) };
  return sha256Canonical({ ...counted, layout: resolved, ...(!isAddressKnown && { isAddressKnown }) });
}

/**
 * Collects the fields of a context from its top level and from `configuration`. Empty texts count as absent,
 * in maps too; `userinfos` is another name of `subjectInfos`; unknown fields are ignored.
 */
export function collectFields(body: Record<string, unknown>): {
  fields: Map<ContextField, Given>;
  faults: Fault[];
} {
  const fields = new Map<ContextField, Given>();
  const faults: Fault[] = [];
  const add = (name: ContextField, raw: unknown, pointer: string) => {
    const value = withoutEmpty(raw, name === 'layoutData');
    if (value === undefined) return;
    const known = fields.get(name);
    if (known && JSON.stringify(known.value) !== JSON.stringify(value))
      faults.push({ pointer, code: 'conflict', detail: `has another value at ${known.pointer}` });
    else if (!known) fields.set(name, { value, pointer });
  };
  for (const name of topFields) add(name, body[name], `/${name}`);
  const configuration = (body.configuration ?? {}) as Record<string, unknown>;
  for (const [source, prefix] of [
    [body, ''],
    [configuration, '/configuration'],
  ] as const) {
    for (const name of configurationFields) add(name, source[name], `${prefix}/${name}`);
    add('subjectInfos', source.userinfos, `${prefix}/userinfos`);
  }
  return { fields, faults };
}

function withoutEmpty(value: unknown, deep: boolean): unknown {
  if (value === '' || value === null) return undefined;
  if (typeof value !== 'object' || Array.isArray(value) || deep) return value;
  const isGiven = (member: unknown) => member !== '' && member !== null;
  const members = Object.entries(value as object);
  if (members.length > 0 && members.every(([, member]) => isGiven(member))) return value;
  const kept = members.filter(([, member]) => isGiven(member));
  return kept.length === 0 ? undefined : Object.fromEntries(kept);
}
