import { maskEmailAddress, maskPhoneNumber } from '../transaction/contact.ts';
import type { Campaign, Member, MemberCounts } from './campaign.ts';

/** The representation of a campaign (openapi.yaml, `Campaign`). @param named how many people it names. */
export function presentCampaign(
  campaign: Campaign,
  counts: MemberCounts | undefined,
  named: number | undefined,
) {
  const { id, name, state, selection, context, channel, perMinute, reminders, author } = campaign;
  const { startAt, endAt, hours, ground, problem, createdAt, startedAt, endedAt, isPicked } = campaign;
  return {
    id,
    name,
    state,
    select: { ...selection, ...(named !== undefined && { named }) },
    context,
    channel,
    start: startAt?.toISOString(),
    end: endAt?.toISOString(),
    perMinute,
    hours: hours ?? undefined,
    reminders,
    ground: ground ?? undefined,
    problem: problem ?? undefined,
    author,
    created: createdAt.toISOString(),
    started: startedAt?.toISOString(),
    ended: endedAt?.toISOString(),
    isPicking: state === 'RUNNING' && !isPicked,
    counts,
  };
}

/** The representation of a person of a campaign. The address is masked. */
export function presentMember(member: Member, channel: Campaign['channel']) {
  const { subject, reference, address, reason, state, why, step, transaction, changedAt } = member;
  const mask = channel === 'EMAIL' ? maskEmailAddress : maskPhoneNumber;
  return {
    subject,
    reference,
    to: address ? mask(address) : undefined,
    reason,
    state,
    why: why ?? undefined,
    sent: step,
    transaction: transaction ?? undefined,
    changed: changedAt?.toISOString(),
  };
}
