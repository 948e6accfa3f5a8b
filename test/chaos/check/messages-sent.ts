import { type DeliveredMail, findDoubles } from './evidence.ts';
import type { Stored } from './stored.ts';

/** What these checks read. */
export interface MessageEvidence {
  history: readonly { kind: string; id?: string; isNotified?: boolean }[];
  stored: Pick<Stored, 'messages'> & { transactions: readonly { id: string; state: string }[] };
  /** Absent where there is no mail server. */
  mails?: readonly DeliveredMail[];
}

type Check = (evidence: MessageEvidence) => string[];

/** I7: what was committed with a notification has written it once. */
export const notificationsAreWritten: Check = ({ history, stored }) => {
  const notified = new Set(
    history.flatMap((line) => (line.kind === 'create' && line.isNotified && line.id ? [line.id] : [])),
  );
  const written = Map.groupBy(
    stored.messages.filter(({ kind }) => kind === 'notification'),
    ({ transaction }) => transaction,
  );
  return stored.transactions.flatMap(({ id, state }) => {
    const count = written.get(id)?.length ?? 0;
    const expected = notified.has(id) && state === 'COMMITTED' ? 1 : 0;
    return count === expected
      ? []
      : [`${id} is ${state} and has ${count} notifications instead of ${expected}`];
  });
};

/**
 * I7: every message ends, a notification is SENT, and a message that is SENT was received. A code may have
 * EXPIRED with its transaction, or have FAILED after its few attempts. No fault lasts as long as the attempts
 * of a notification, and each person has another address, so that no limit applies.
 */
export const messagesArrive: Check = ({ stored, mails }) => {
  if (!mails) return [];
  const received = new Set(mails.map(({ message }) => message));
  return stored.messages.flatMap(({ id, kind, transaction, state }) => {
    if (state === 'PENDING') return [`the ${kind} ${id} of ${transaction} was never sent`];
    if (kind === 'notification' && state !== 'SENT')
      return [`the notification ${id} of ${transaction} is ${state}`];
    return state === 'SENT' && !received.has(id)
      ? [`the ${kind} ${id} of ${transaction} is SENT and never arrived`]
      : [];
  });
};

/**
 * I7: a mail arrives once. A process that is killed between the server's reply and the COMMIT sends it once
 * more, and a mail whose reply was lost is sent again.
 */
export const mailsArriveOnce: Check = ({ stored, mails = [] }) => {
  const written = new Set(stored.messages.map(({ id }) => id));
  const acknowledged = mails.flatMap(({ message, isAcknowledged }) => (isAcknowledged ? [message] : []));
  const seen = new Set<string>();
  const repeated = acknowledged.filter((message) => {
    const isFirst = !seen.has(message);
    seen.add(message);
    return !isFirst;
  });
  return [
    ...findDoubles(repeated).map((message) => `the mail ${message} was accepted more than twice`),
    ...mails
      .filter(({ message }) => !written.has(message))
      .map(({ message }) => `the mail ${message} arrived and no message has this id`),
  ];
};
