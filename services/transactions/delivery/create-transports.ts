import type { Settings } from '#lib/config/settings.ts';
import { createMailTransport } from '#lib/mail/mail-transport.ts';
import type { Instance } from '#lib/runtime/live-settings.ts';
import type { transactionsSpecs } from '../config.ts';
import type { Transports } from './deliver.ts';
import type { DemoMailbox } from './demo.ts';
import { createSmsTransport } from './sms.ts';

type Read = Settings<typeof transactionsSpecs>;

/**
 * The transports of messages and the senders that a context may name.
 * @param mailbox of a demonstration: it keeps the messages of a channel that has no setting.
 */
export function createTransports(
  read: Read,
  { instance, mailbox }: { instance: Pick<Instance, 'baseUrl' | 'mailFrom'>; mailbox: DemoMailbox | null },
) {
  const { MAIL_URL, MAIL_CA, MAIL_SENDERS, SMS_URL, SMS_FROM, SMS_SENDERS } = read;
  const { hostname: host } = new URL(instance.baseUrl);
  const mail = MAIL_URL ? createMailTransport({ url: MAIL_URL, ca: MAIL_CA, host }) : mailbox?.mail;
  const sms = SMS_URL ? createSmsTransport({ url: SMS_URL }) : mailbox?.sms;
  return {
    transports: {
      mail: mail ?? null,
      sms: sms ? { transport: sms, from: SMS_FROM ?? null } : null,
    } satisfies Transports,
    senders: {
      mail: {
        get senders() {
          return mailSenders(instance.mailFrom, MAIL_SENDERS);
        },
      },
      sms: { senders: SMS_SENDERS ?? (SMS_FROM === undefined ? [] : [SMS_FROM]) },
    },
  };
}

function mailSenders(from: string, listed: readonly string[] = [from]): string[] {
  return listed.flatMap((sender) => [sender, addressOf(sender)]);
}

/** The address in `Name <address>`. */
function addressOf(sender: string): string {
  return /<([^<>]+)>$/.exec(sender)?.[1] ?? sender;
}
