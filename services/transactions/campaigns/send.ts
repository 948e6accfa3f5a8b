import type { SendResult } from '#lib/mail/mail-transport.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { Instance } from '#lib/runtime/live-settings.ts';
import { composeMessage } from '../delivery/compose-message.ts';
import type { Transports } from '../delivery/deliver.ts';
import { recordResults } from '../messages/attempted-store.ts';
import { messageBackoff } from '../messages/message.ts';
import type { ShortCodes } from '../transaction/short-link.ts';
import type { BeginDependencies, BegunMessage } from './begin.ts';
import { changeMembers, type MemberChange, reminderMs } from './members-store.ts';
import { type Attempt, afterAttempt, type MemberState } from './rules.ts';
import { type UnsubscribeTokens, unsubscribeUrl } from './unsubscribe-token.ts';

export interface SendDependencies extends BeginDependencies {
  instance: Instance;
  shortCodes: ShortCodes;
  transports: Transports;
  unsubscribeTokens: UnsubscribeTokens;
  log: Logger;
}

/** A message that is being sent. */
export interface Sending {
  begun: BegunMessage;
  /** Ends the attempt, unless the content is already being sent. */
  abandon(): void;
  /** How the attempt ended. */
  ended: Promise<EndedAttempt>;
}

export interface EndedAttempt {
  begun: BegunMessage;
  attempt: Attempt;
  /** Class of the failure. */
  error: string | null;
  /** Whether the server, and not this message, is the reason: others would fail, too. */
  isAway: boolean;
}

/** Sends a begun message. Never throws: what fails before the content is sent was certainly not accepted. */
export function sendBegun(dependencies: SendDependencies, begun: BegunMessage): Sending {
  const stop = new AbortController();
  let hasData = false;
  const onData = () => {
    hasData = true;
  };
  return {
    begun,
    abandon() {
      if (!hasData) stop.abort();
    },
    ended: send(dependencies, begun, { signal: stop.signal, onData }).then(
      (result) => ({ begun, ...attemptOf(result) }),
      (error: unknown) => {
        dependencies.log.warn('failed to compose a message of a campaign; tried again', {
          id: begun.message,
          error,
        });
        return {
          begun,
          attempt: hasData ? ('unsure' as const) : ('unsent' as const),
          error: 'internal',
          isAway: false,
        };
      },
    ),
  };
}

function attemptOf(result: SendResult | undefined): Omit<EndedAttempt, 'begun'> {
  // The transaction has ended meanwhile: the member is judged again.
  if (!result) return { attempt: 'unsent', error: null, isAway: false };
  if (result.result === 'sent') return { attempt: 'sent', error: null, isAway: false };
  const { error, isUnsure, isAway = result.result === 'failed' && !/^(smtp-|stopped)/.test(error) } = result;
  if (isUnsure) return { attempt: 'unsure', error: 'unsure', isAway };
  return { attempt: result.result === 'refused' ? 'refused' : 'unsent', error, isAway };
}

/** @returns undefined if the message need not be sent any more. */
async function send(
  dependencies: SendDependencies,
  { member, message: id, transaction, destination }: BegunMessage,
  { signal, onData }: { signal: AbortSignal; onData: () => void },
): Promise<SendResult | undefined> {
  const { transports, instance, unsubscribeTokens } = dependencies;
  const unsubscribe = unsubscribeUrl(instance.baseUrl, unsubscribeTokens.mint(member.reference));
  const about = { reason: member.reason, isReminder: member.step > 0, unsubscribe };
  const { channel, to } = destination;
  const composed = await composeMessage(dependencies, {
    id,
    kind: 'campaign',
    channel,
    transaction,
    campaign: about,
  });
  if (!composed) return undefined;
  if (signal.aborted) return { result: 'failed', error: 'stopped' };
  const { subject, text, html, language, attachments } = composed;
  const [mail, sms] = [transports.mail, transports.sms];
  if (channel === 'sms' && sms) return sms.transport.send({ id, from: sms.from, to, text }, signal, onData);
  if (channel === 'sms' || !mail || subject === null || html === null)
    return { result: 'failed', error: 'not-configured' };
  const content = {
    id,
    from: instance.mailFrom,
    to,
    subject,
    text,
    html,
    language,
    attachments,
    unsubscribe,
  };
  return mail.send(content, signal, onData);
}

/** Records how attempts of one campaign ended. */
export async function settle(
  { db, instance, log, wake }: SendDependencies,
  campaign: string,
  ended: readonly EndedAttempt[],
): Promise<void> {
  const changes = ended.map(changeOf);
  await db.withTransaction(async (tx) => {
    // A lease that has expired has made the member UNSURE; it is known now.
    const sent = changes.filter(({ state }) => state === 'SENT');
    await changeMembers(tx, campaign, sent, ['SENDING', 'UNSURE']);
    await changeMembers(
      tx,
      campaign,
      changes.filter(({ state }) => state !== 'SENT'),
      ['SENDING'],
    );
    await recordResults(
      tx,
      ended.map(({ begun: { message: id }, attempt, error }) => ({
        id,
        result: attempt === 'sent' || attempt === 'unsent' ? attempt : ('failed' as const),
        error,
      })),
      instance.baseUrl,
    );
  });
  wake();
  for (const { attempt, error, begun } of ended)
    if (attempt !== 'sent' && error !== null)
      log.warn(
        `message of a campaign not sent; ${attempt === 'unsent' ? 'tried again' : 'not tried again'}`,
        {
          id: begun.message,
          operation: begun.destination.channel,
          code: error,
        },
      );
}

function changeOf({ begun: { campaign, member }, attempt, error }: EndedAttempt): MemberChange {
  const { reference, step } = member;
  const isCounted = attempt === 'unsent' && error !== null && error !== 'stopped';
  const attempts = member.attempts + Number(isCounted);
  const retryMs = isCounted ? messageBackoff(attempts, Math.random(), { kind: 'campaign' }) : 0;
  const state: MemberState = afterAttempt(attempt, step, retryMs !== undefined);
  if (attempt === 'sent') {
    const dueMs = step < campaign.reminders ? reminderMs : null;
    return { reference, state, step: step + 1, attempts: 0, dueMs };
  }
  const mailedAt = attempt === 'unsure' ? undefined : (member.mailedAt?.toISOString() ?? null);
  return {
    reference,
    state,
    attempts,
    dueMs: attempt === 'unsent' && retryMs !== undefined ? retryMs : null,
    ...(mailedAt !== undefined && { mailedAt }),
  };
}
