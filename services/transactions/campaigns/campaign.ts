import type { MessageChannel } from '#lib/contracts/messages.ts';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { ActiveVersions } from '#lib/contracts/versions.ts';
import { addDuration } from '#lib/text/duration.ts';
import type { CampaignState, Exclusion, Hours, MemberState, Reason, Wanted } from './rules.ts';

type Schemas = components['schemas'];

/** Whom a campaign looks for. */
export interface Selection {
  /** Keys of own elements. */
  elements: string[];
  who: Reason[];
  /** ISO 8601 */
  within: string;
}

/** A campaign as it is stored. */
export interface Campaign {
  id: string;
  name: string;
  state: CampaignState;
  selection: Selection;
  /** Whether only people are asked that it names. */
  isNamed: boolean;
  context: Schemas['CampaignContext'];
  channel: 'EMAIL' | 'SMS';
  startAt: Date | null;
  endAt: Date | null;
  perMinute: number;
  hours: Hours | null;
  reminders: number;
  ground: string | null;
  /** Why this instance itself has paused it. */
  problem: 'FORM' | null;
  author: string;
  createdBy: string;
  createdAt: Date;
  startedAt: Date | null;
  endedAt: Date | null;
  pickedTo: string | null;
  isPicked: boolean;
  usedUntil: Date;
}

/** By which channel its messages are sent. */
export const channelOf = ({ channel }: Pick<Campaign, 'channel'>): MessageChannel =>
  channel === 'EMAIL' ? 'mail' : 'sms';

/** What a draft says; `subjects`: ids of the only people who are asked, null for all. */
export type CampaignDraft = Pick<
  Campaign,
  | 'name'
  | 'selection'
  | 'context'
  | 'channel'
  | 'startAt'
  | 'endAt'
  | 'perMinute'
  | 'hours'
  | 'reminders'
  | 'ground'
> & { subjects: string[] | null };

/** How many people are in each state. */
export type MemberCounts = Record<MemberState, number>;

/** A person of a campaign, for a list. */
export interface Member {
  reference: string;
  subject: string;
  address: string | null;
  reason: Reason;
  state: MemberState;
  why: Exclusion | null;
  step: number;
  transaction: string | null;
  changedAt: Date | null;
}

/** What a campaign looks for now. @param active versions of what the answers are about. */
export function wantedOf({ selection, context }: Campaign, active: ActiveVersions, now: Date): Wanted {
  return {
    keys: selection.elements,
    who: selection.who,
    object: context.object === '' ? undefined : context.object,
    active,
    now,
    until: addDuration(now, selection.within),
  };
}
