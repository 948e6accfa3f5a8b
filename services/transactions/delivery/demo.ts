import type { MailTransport, OutgoingMail } from '#lib/mail/mail-transport.ts';
import type { OutgoingSms, SmsTransport } from './transport.ts';

/** A message of a demonstration, which is shown instead of sent. */
export type KeptMessage = { at: Date } & (
  | { channel: 'mail'; message: OutgoingMail }
  | { channel: 'sms'; message: OutgoingSms }
);

/** The last messages of a demonstration (docs/messages.md). */
export interface DemoMailbox {
  mail: MailTransport;
  sms: SmsTransport;
  /** Newest first. */
  messages(): readonly KeptMessage[];
}

const maxKept = 100;

/** Keeps messages in memory: a demonstration has one process and no real addresses. */
export function createDemoMailbox(): DemoMailbox {
  const kept: KeptMessage[] = [];
  const keep = (message: KeptMessage) => {
    kept.unshift(message);
    kept.length = Math.min(kept.length, maxKept);
    return { result: 'sent' } as const;
  };
  const close = async () => {};
  return {
    mail: {
      send: async (message) => keep({ at: new Date(), channel: 'mail', message }),
      check: async () => undefined,
      close,
    },
    sms: { send: async (message) => keep({ at: new Date(), channel: 'sms', message }), close },
    messages: () => kept,
  };
}
