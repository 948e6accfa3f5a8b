import type { PinnedLayout } from '#lib/contracts/forms.ts';
import type { Queries } from '#lib/db/database.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import { insertAttempted } from '../messages/attempted-store.ts';
import { readContext, withLayoutContext } from '../request/read-context.ts';
import type { Destination } from '../transaction/destination.ts';
import { insertTransaction, readNow } from '../transaction/store.ts';
import { newTransaction } from '../transaction/transaction.ts';
import { type Campaign, channelOf, wantedOf } from './campaign.ts';
import { contextFor, type ManageDependencies, principalOf, resolveForm } from './manage.ts';
import { changeMembers, type DueMember, listDue, lockDue, type MemberChange } from './members-store.ts';
import { lockPeople, type Person, readPeopleById } from './people-store.ts';
import { destinationOf, factsOf, readActive } from './pick.ts';
import { grant, isWithinHours, judge } from './rules.ts';
import { lockCampaign, noteUsed, readCampaign } from './store.ts';

export interface BeginDependencies extends Omit<ManageDependencies, 'instance'> {
  instance: { baseUrl: string; readonly timeZone: string };
}

/** A message to send: its member was committed as SENDING, so that no other process sends it. */
export interface BegunMessage {
  campaign: Campaign;
  member: DueMember;
  message: string;
  transaction: string;
  destination: Destination;
}

type Form = Awaited<ReturnType<typeof resolveForm>> & { layout: PinnedLayout };

/**
 * Begins the next messages of a campaign, as many as its pace allows: decides for each person, by what is
 * known in that moment, whether it is still to be asked, and makes the transaction that the first message
 * links to. All of it is one COMMIT, so that a message can be sent once at most.
 * @param limit at most so many.
 */
export async function beginMessages(
  dependencies: BeginDependencies,
  id: string,
  limit: number,
): Promise<BegunMessage[]> {
  const { db, instance } = dependencies;
  const prepared = await prepare(dependencies, id, limit);
  if (!prepared) return [];
  const { form, active, references } = prepared;
  const begun = await db.withTransaction(async (tx) => {
    const campaign = await lockCampaign(tx, id);
    const now = await readNow(tx);
    if (!campaign || !isSending(campaign, now, instance.timeZone)) return [];
    const { count, usedUntil } = grant({ ...campaign, now }, limit);
    const locked = count > 0 ? await lockPeople(tx, references.slice(0, count)) : [];
    const people = await readPeopleById(tx, campaign, locked);
    const due = await lockDue(tx, id, locked);
    const wanted = wantedOf(campaign, active, now);
    const waitFor = await dependencies.messaging.openHour(tx, channelOf(campaign));
    const changes: MemberChange[] = [];
    const messages: BegunMessage[] = [];
    for (const member of due) {
      const person = people.get(member.reference);
      if (!person) continue;
      const verdict = judge(member, factsOf(campaign, person), wanted);
      if (verdict === 'WAIT')
        changes.push({ reference: member.reference, state: member.state, dueMs: dayMs });
      else if (verdict !== 'SEND') changes.push({ reference: member.reference, ...verdict, dueMs: null });
      else {
        const result = await begin(tx, dependencies, { campaign, member, person, form, waitFor });
        changes.push(result.change);
        if (result.begun) messages.push(result.begun);
      }
    }
    await changeMembers(tx, id, changes, ['PICKED', 'SENT']);
    if (messages.length > 0) await noteUsed(tx, id, usedUntil);
    return messages;
  });
  if (begun.length > 0) dependencies.wake();
  return begun;
}

const dayMs = 86_400_000;

/** Asks forms for what a batch needs, before anything is locked. @returns undefined if nothing is due. */
async function prepare(dependencies: BeginDependencies, id: string, limit: number) {
  const { db, forms, instance } = dependencies;
  const campaign = await readCampaign(db, id);
  const now = await readNow(db);
  if (!campaign || !isSending(campaign, now, instance.timeZone)) return undefined;
  if (grant({ ...campaign, now }, 1).count === 0) return undefined;
  const references = await listDue(db, id, limit);
  if (references.length === 0) return undefined;
  const people = await readPeopleById(db, campaign, references);
  const form = await resolveForm(dependencies, campaign, principalOf(campaign));
  return { references, form, active: await readActive(forms, campaign, people.values()) };
}

function isSending({ state, startAt, endAt, hours }: Campaign, now: Date, timeZone: string): boolean {
  if (state !== 'RUNNING' || (startAt && startAt > now) || (endAt && endAt <= now)) return false;
  return isWithinHours(hours, now, timeZone);
}

interface Beginning {
  campaign: Campaign;
  member: DueMember;
  person: Person;
  form: Form;
  /** Of {@link Messaging.openHour}. */
  waitFor: (destination: Destination) => Promise<number>;
}

/** Stores all that a message needs, unless the limits of messages forbid it now. */
async function begin(
  tx: Queries,
  dependencies: BeginDependencies,
  { campaign, member, person, form, waitFor }: Beginning,
): Promise<{ change: MemberChange; begun?: BegunMessage }> {
  const { reference, state } = member;
  const destination = destinationOf(campaign, person);
  if (!destination) throw new Error('a person without an address was judged to be asked');
  const waitSeconds = await waitFor(destination);
  if (waitSeconds > 0) return { change: { reference, state, dueMs: waitSeconds * 1_000 } };
  const transaction =
    member.transaction ?? (await makeTransaction(tx, dependencies, { campaign, member, person, form }));
  const message = newUuid();
  const address = dependencies.messaging.addressOf(destination);
  await insertAttempted(tx, { id: message, transaction, destination, address });
  return {
    change: { reference, state: 'SENDING', transaction, message },
    begun: { campaign, member, message, transaction, destination },
  };
}

/** The transaction of a person, which asks what has no valid answer, until the campaign ends. */
async function makeTransaction(
  tx: Queries,
  { messaging, instance }: BeginDependencies,
  { campaign, member, person, form }: Omit<Beginning, 'waitFor'>,
): Promise<string> {
  const principal = principalOf(campaign);
  const { name, language } = person;
  const address = destinationOf(campaign, person)?.to ?? '';
  const timeout = timeoutOf(campaign, await readNow(tx));
  const sent = { ...contextFor(campaign, { name, address, language, timeout }), object: member.object };
  const read = withLayoutContext(readContext(sent, principal, messaging), form.context, principal, messaging);
  const created = newTransaction(read, form.layout, principal);
  await insertTransaction(tx, created, instance.baseUrl);
  return created.id;
}

const maxTimeoutDays = 90;

/** How long the link of a message works: until the campaign ends. */
function timeoutOf({ endAt }: Pick<Campaign, 'endAt'>, now: Date): string {
  const days = endAt ? Math.ceil((endAt.getTime() - now.getTime()) / dayMs) : maxTimeoutDays;
  return `P${Math.min(maxTimeoutDays, Math.max(1, days))}D`;
}
