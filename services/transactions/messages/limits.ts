import type { MessageChannel, MessageKind } from '#lib/contracts/messages.ts';

/** Limits of messages (docs/messages.md, "For operators"). */
export interface MessageLimits {
  /** Per address in 24 hours: CODE_DAILY_LIMIT and MESSAGE_DAILY_LIMIT; the second also per plain user. */
  codes: number;
  messages: number;
  /** Text messages in an hour: per country calling code (SMS_PREFIX_LIMIT), and all (SMS_HOURLY_LIMIT). */
  prefix: number;
  sms: number;
  /** In an hour: all mails (MAIL_HOURLY_LIMIT), and the messages of one creator (CREATOR_HOURLY_LIMIT). */
  mails: number;
  creator: number;
}

/** The messages to an address and by a plain user in the last day, and text messages in the last hour. */
export interface RecentMessages {
  messages: number;
  codes: number;
  /** Age in seconds of the oldest counted message, and of the oldest counted code. */
  oldestMessage: number;
  oldestCode: number;
  /** Links to choices, and those of the last hour. */
  choices: number;
  choicesOfHour: number;
  /** Text messages to the country, and the age in seconds of the oldest. */
  toPrefix: number;
  oldestToPrefix: number;
  /** All text messages, and the age in seconds of the oldest. */
  sms: number;
  oldestSms: number;
  /** Messages that the plain user has caused in the last day, and the age in seconds of the oldest. */
  ofUser: number;
  oldestOfUser: number;
}

/** A limit that forbids a message now, with the wait. */
export interface ReachedLimit {
  detail: string;
  waitSeconds: number;
}

const toAddress = 'Too many messages were sent to this address. Try again later.';
const toCountry = 'Too many text messages were sent to this country. Try again later.';
const toAll = 'Too many text messages were sent. Try again later.';
const byUser = 'This account has caused too many messages. Try again later.';
const daySeconds = 86_400;
const hourSeconds = 3_600;
/** Retry-After while earlier messages wait. */
const behindSeconds = 60;

/** Links to choices for one address. Who asks for more gets the same response, and no mail. */
const choicesLimits = { hour: 3, day: 10 } as const;

/** The limit that forbids a message for the longest time, with the wait; undefined if it may be sent now. */
export function reachedLimit(
  recent: RecentMessages,
  { kind, hasPrefix, isByStranger }: { kind: MessageKind; hasPrefix: boolean; isByStranger: boolean },
  limits: MessageLimits,
): ReachedLimit | undefined {
  // Strangers at the address of a form cannot keep a person from the codes of other forms.
  const codes = isByStranger ? Math.ceil(limits.codes / 2) : limits.codes;
  const waits = [
    {
      detail: toAddress,
      // Links to choices, for which strangers can ask, have limits of their own.
      wait: kind !== 'choices' && recent.messages >= limits.messages ? daySeconds - recent.oldestMessage : 0,
    },
    {
      detail: toAddress,
      wait: kind === 'code' && recent.codes >= codes ? daySeconds - recent.oldestCode : 0,
    },
    {
      detail: toCountry,
      wait: hasPrefix && recent.toPrefix >= limits.prefix ? hourSeconds - recent.oldestToPrefix : 0,
    },
    { detail: toAll, wait: hasPrefix && recent.sms >= limits.sms ? hourSeconds - recent.oldestSms : 0 },
    { detail: toAddress, wait: kind === 'choices' && areTooManyLinks(recent) ? hourSeconds : 0 },
    { detail: byUser, wait: recent.ofUser >= limits.messages ? daySeconds - recent.oldestOfUser : 0 },
  ];
  const [longest] = waits.sort((a, b) => b.wait - a.wait);
  return longest && longest.wait > 0
    ? { detail: longest.detail, waitSeconds: Math.ceil(longest.wait) }
    : undefined;
}

function areTooManyLinks({ choices, choicesOfHour }: RecentMessages): boolean {
  return choicesOfHour >= choicesLimits.hour || choices >= choicesLimits.day;
}

/** How many messages of all, and of one creator, may have been sent in the last hour before another. */
export interface HourlyRoom {
  /** Null for a text message, which has limits of its own. */
  mails: number | null;
  creator: number;
}

/**
 * Codes, for which people wait, may use the limits whole, all others four fifths of them: many invitations do
 * not keep people from their codes.
 */
export function hourlyRoom(
  { kind, channel }: { kind: MessageKind; channel: MessageChannel },
  { mails, creator }: Pick<MessageLimits, 'mails' | 'creator'>,
): HourlyRoom {
  const shareOf = (limit: number) => (kind === 'code' ? limit : Math.ceil(0.8 * limit));
  return { mails: channel === 'mail' ? shareOf(mails) : null, creator: shareOf(creator) };
}

/** The messages that count in the last hour, up to the room that there is. */
export interface HourlyMessages {
  mails: number;
  /** Age in seconds of the oldest of them. */
  oldestMail: number;
  ofCreator: number;
  oldestOfCreator: number;
  /** Whether messages of the same creator wait; all but codes wait behind them. */
  areWaiting: boolean;
}

/** An hourly limit that forbids a message now. */
export interface HourlyLimit extends ReachedLimit {
  limit: 'mails' | 'creator';
  /** Whose limit it is; null for that of all mails. */
  causedBy: string | null;
  /** False: the limit is not reached, but earlier messages of the creator wait. */
  isReached: boolean;
}

/** @returns undefined if the message may be sent now. */
export function reachedHourly(
  { mails, oldestMail, ofCreator, oldestOfCreator, areWaiting }: HourlyMessages,
  { kind, room, causedBy }: { kind: MessageKind; room: HourlyRoom; causedBy: string | null },
): HourlyLimit | undefined {
  const mailWait = room.mails !== null && mails >= room.mails ? hourSeconds - oldestMail : 0;
  const creatorWait = causedBy !== null && ofCreator >= room.creator ? hourSeconds - oldestOfCreator : 0;
  const isBehind = areWaiting && kind !== 'code';
  if (mailWait <= 0 && creatorWait <= 0 && !isBehind) return undefined;
  const isReached = mailWait > 0 || creatorWait > 0;
  const waitSeconds = isReached ? Math.ceil(Math.max(mailWait, creatorWait)) : behindSeconds;
  return mailWait > creatorWait
    ? {
        limit: 'mails',
        causedBy: null,
        isReached,
        waitSeconds,
        detail: 'Too many mails were sent. Try again later.',
      }
    : {
        limit: 'creator',
        causedBy,
        isReached,
        waitSeconds,
        detail: 'Too many messages were sent for this account or key. Try again later.',
      };
}
