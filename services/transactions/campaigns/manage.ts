import { recordAction } from '#lib/audit/record-action.ts';
import type { FormsOperations } from '#lib/contracts/forms.ts';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { Principal } from '#lib/contracts/principal.ts';
import type { Database } from '#lib/db/database.ts';
import { type Fault, fail, movePointers } from '#lib/errors/fail.ts';
import { randomId } from '#lib/ids/random-ids.ts';
import { addDuration, longestValidity, readDuration } from '#lib/text/duration.ts';
import { parseTimestamp } from '#lib/text/timestamp.ts';
import type { Messaging } from '../messages/queue.ts';
import { readContext, withLayoutContext } from '../request/read-context.ts';
import { layoutReference } from '../transaction/context.ts';
import { readNow } from '../transaction/store.ts';
import { invalid, normaliseText } from '../transaction/values.ts';
import { type Campaign, type CampaignDraft, channelOf } from './campaign.ts';
import { findPeople } from './people-store.ts';
import { type CampaignState, campaignMoves, type Hours } from './rules.ts';
import { insertCampaign, lockCampaign, moveCampaign, readCampaign, replaceDraft } from './store.ts';

type Input = components['schemas']['CampaignInput'];

export interface ManageDependencies {
  db: Database;
  forms: FormsOperations;
  instance: { baseUrl: string };
  messaging: Messaging;
  /** Wakes the outbox relay. */
  wake: () => void;
  /** Wakes the job that sends the messages of campaigns. */
  wakeCampaigns: () => void;
}

const longest = 'P1Y';
const usual = 'P90D';
const maxNamed = 20;

/** The context of a campaign for one person. @param address of the channel. */
export function contextFor(
  { context, channel }: Pick<Campaign, 'context' | 'channel'>,
  person: { name: string; address: string; language: string | null; timeout?: string },
): Record<string, unknown> {
  const { name: subject, address, language, timeout } = person;
  return {
    ...(language !== null && { language }),
    ...context,
    subject,
    ask: 'CHANGED',
    // No method of the interface names a text message.
    origin: channel === 'EMAIL' ? 'EMAIL' : 'WEBFORM',
    ...(timeout && { timeout }),
    subjectInfos: channel === 'EMAIL' ? { emailAddress: address } : { phoneNumber: address },
  };
}

/** Whom a background job acts for. */
export function principalOf({ author, createdBy }: Pick<Campaign, 'author' | 'createdBy'>): Principal {
  return { roles: ['operator'], reach: 'any', name: author, account: createdBy };
}

/** A person that stands for all when a context is checked. */
const sample = { EMAIL: 'person@example.org', SMS: '+33639980001' } as const;

/**
 * Resolves the form of a campaign, and checks that it asks the elements, which must be ACTIVE ones of this
 * instance.
 * @throws Failure of `readContext` and `resolveLayout` with pointers below `/context`, `invalid`.
 */
export async function resolveForm(
  { forms, messaging }: Pick<ManageDependencies, 'forms' | 'messaging'>,
  campaign: Pick<Campaign, 'context' | 'channel' | 'selection'>,
  principal: Principal,
) {
  const person = { name: 'person', address: sample[campaign.channel], language: null };
  // A way to confirm that needs another address than the channel's is a fault of the way.
  const place = (pointer: string) =>
    pointer.startsWith('/subjectInfos') ? '/context/confirmation' : `/context${pointer}`;
  const found = await movePointers(place, async () => {
    const read = readContext(contextFor(campaign, person), principal, messaging);
    const resolved = await forms.resolveLayout(layoutReference(read.context));
    return { ...resolved, read: withLayoutContext(read, resolved.context, principal, messaging) };
  });
  const { layout, active } = found;
  const errors = campaign.selection.elements.flatMap((key, index): Fault[] => {
    const pointer = `/select/elements/${index}`;
    if (key.includes('@'))
      return [invalid(pointer, 'is an element of a peer, which knows its own answers alone')];
    if (!layout.elements.includes(key)) return [invalid(pointer, 'is not asked by the form of the context')];
    return active[key]?.major == null ? [invalid(pointer, 'is not ACTIVE')] : [];
  });
  if (errors.length > 0) throw fail('invalid', 'The campaign is not valid.', { errors });
  return found;
}

/** Stores a draft. @throws Failure of {@link readDraft}. */
export async function createCampaign(
  dependencies: ManageDependencies,
  input: Input,
  principal: Principal,
): Promise<Campaign> {
  const draft = await readDraft(dependencies, input, principal);
  return dependencies.db.withTransaction(async (tx) => {
    const id = randomId();
    const createdBy = principal.account;
    const campaign = await insertCampaign(tx, { ...draft, id, author: principal.name, createdBy });
    await recordAction(tx, { action: 'campaign.created', target: `campaign/${id}` });
    return campaign;
  });
}

/** Replaces a draft. @throws Failure of {@link readDraft}, `not-found`, `wrong-state`. */
export async function updateCampaign(
  dependencies: ManageDependencies,
  id: string,
  { input, principal }: { input: Input; principal: Principal },
): Promise<Campaign> {
  const { db } = dependencies;
  const stored = await readCampaign(db, id);
  if (!stored) throw noSuchCampaign();
  if (stored.state !== 'DRAFT') throw wrongState(stored.state);
  const draft = await readDraft(dependencies, input, principal);
  return db.withTransaction(async (tx) => {
    const replaced = await replaceDraft(tx, id, draft);
    if (!replaced) throw wrongState((await readCampaign(tx, id))?.state ?? 'CANCELLED');
    await recordAction(tx, { action: 'campaign.updated', target: `campaign/${id}` });
    return replaced;
  });
}

/** @throws Failure `invalid` with a pointer for each fault; Failure of {@link resolveForm}. */
async function readDraft(
  dependencies: ManageDependencies,
  { name, select, context, ...rest }: Input,
  principal: Principal,
): Promise<CampaignDraft> {
  const { db } = dependencies;
  const { channel = 'EMAIL', perMinute = 60, hours = null, reminders = 0 } = rest;
  const within = readDuration(select.within ?? 'P30D', longestValidity);
  const [startAt, endAt] = [readMoment(rest.start), readMoment(rest.end)];
  const ground = normaliseText(rest.ground ?? '') || null;
  const faults: Fault[] = [
    ...('fault' in within ? [invalid('/select/within', within.fault)] : []),
    ...(startAt === undefined ? [invalid('/start', 'must be a time')] : []),
    ...(endAt === undefined ? [invalid('/end', 'must be a time')] : []),
    ...(endAt ? endFaults(startAt ?? (await readNow(db)), endAt) : []),
    ...(select.who.includes('NEVER') && !ground
      ? [
          {
            pointer: '/ground',
            code: 'required',
            detail: 'is required to write to people who were never asked',
          },
        ]
      : []),
    ...hourFaults(hours),
    ...((context.theme?.length ?? 0) > 255
      ? [invalid('/context/theme', 'must have at most 255 characters')]
      : []),
    ...(hours && hours.from === hours.to ? [invalid('/hours/to', 'must not be equal to from')] : []),
  ];
  const names = select.subjects?.map(normaliseText);
  const known = names ? await findPeople(db, names) : undefined;
  const unknown = (names ?? []).flatMap((each, index) => (known?.has(each) ? [] : [index]));
  faults.push(
    ...unknown.slice(0, maxNamed).map((index) => invalid(`/select/subjects/${index}`, 'is not known')),
  );
  if (faults.length > 0 || 'fault' in within)
    throw fail('invalid', 'The campaign is not valid.', { errors: faults });
  const selection = { elements: select.elements, who: select.who, within: within.text };
  await resolveForm(dependencies, { context, channel, selection }, principal);
  return {
    name,
    selection,
    context,
    channel,
    startAt: startAt ?? null,
    endAt: endAt ?? null,
    perMinute,
    hours,
    reminders,
    ground,
    subjects: known ? [...new Set(known.values())] : null,
  };
}

function hourFaults(hours: Hours | null): Fault[] {
  if (!hours) return [];
  const isTime = (text: string) => /^(?:[01]\d|2[0-3]):[0-5]\d$/.test(text);
  return [
    ...(isTime(hours.from) ? [] : [invalid('/hours/from', 'must be a time such as 08:00')]),
    ...(isTime(hours.to) || hours.to === '24:00'
      ? []
      : [invalid('/hours/to', 'must be a time such as 20:00')]),
  ];
}

/** @returns null for no time, undefined for what is none. */
function readMoment(text: string | undefined): Date | null | undefined {
  return text === undefined || text === '' ? null : parseTimestamp(text);
}

function endFaults(start: Date, end: Date): Fault[] {
  if (end <= start) return [invalid('/end', 'must be after the start')];
  return end > addDuration(start, longest) ? [invalid('/end', 'must be at most a year after the start')] : [];
}

/** Messages are begun by those who hold the lock that is taken here: none is begun after PAUSED. */
export async function setStatus(
  dependencies: ManageDependencies,
  id: string,
  { status, principal }: { status: CampaignState; principal: Principal },
): Promise<Campaign> {
  const { db, instance, messaging, wake, wakeCampaigns } = dependencies;
  const found = await readCampaign(db, id);
  if (!found) throw noSuchCampaign();
  if (status === 'RUNNING' && found.state !== status) {
    if (!messaging.channels[channelOf(found)])
      throw fail(
        'not-available',
        `This instance sends no ${found.channel === 'EMAIL' ? 'mail (MAIL_URL)' : 'SMS (SMS_URL)'}.`,
      );
    // The body has the status alone, which every fault of the form forbids.
    await movePointers(
      () => '/status',
      () => resolveForm(dependencies, found, principal),
    );
  }
  const moved = await db.withTransaction(async (tx) => {
    const campaign = (await lockCampaign(tx, id)) as Campaign;
    if (campaign.state === status) return campaign;
    if (!campaignMoves[campaign.state].includes(status)) throw wrongState(campaign.state);
    const start = campaign.startAt ?? (await readNow(tx));
    const endAt =
      campaign.state === 'DRAFT' && status === 'RUNNING'
        ? (campaign.endAt ?? addDuration(start, usual))
        : null;
    await recordAction(tx, auditOf(campaign, status));
    return moveCampaign(tx, campaign, { state: status, endAt }, instance.baseUrl);
  });
  wake();
  wakeCampaigns();
  return moved;
}

function auditOf({ id, state, ground }: Campaign, status: CampaignState) {
  const target = `campaign/${id}`;
  if (status === 'PAUSED') return { action: 'campaign.paused', target } as const;
  if (status === 'CANCELLED') return { action: 'campaign.cancelled', target } as const;
  if (state === 'PAUSED') return { action: 'campaign.continued', target } as const;
  return { action: 'campaign.started', target, ...(ground !== null && { outcome: ground }) } as const;
}

export function noSuchCampaign() {
  return fail('not-found', 'Campaign not found.');
}

function wrongState(state: CampaignState) {
  return fail('wrong-state', `The campaign is ${state}.`, { members: { state } });
}
