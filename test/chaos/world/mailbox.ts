import { freePort } from '#lib/db/embedded/postmaster.ts';
import { codeIn, type MailServer, startMailServer } from '../../support/network/mail-server.ts';
import type { DeliveredMail } from '../check/evidence.ts';
import { type Fault, formAndSubmit } from '../faults/fault.ts';
import { waitUntil } from '../wait-until.ts';

/** The mail server of a world. It runs in this process, which no fault kills. */
export interface Mailbox {
  /** Settings of Accord. */
  settings: Record<string, string>;
  faults: readonly Fault[];
  delivered(): DeliveredMail[];
  /** Waits for the mail with the code. @returns undefined if it has not arrived in time. */
  waitForCode(address: string, timeoutMs: number): Promise<string | undefined>;
  stop(): Promise<void>;
}

export async function startMailbox(): Promise<Mailbox> {
  const port = await freePort();
  const start = () => startMailServer({}, { port });
  const servers: MailServer[] = [await start()];
  const current = () => servers.at(-1) as MailServer;
  const received = () => servers.flatMap((server) => server.received);
  const broken = { breaks: 'mail', promised: formAndSubmit, lasts: [1_000, 10_000] as const };
  return {
    // A test of some minutes sends what others send in hours.
    settings: {
      MAIL_URL: `smtp://localhost:${port}`,
      MAIL_HOURLY_LIMIT: '1000000',
      CREATOR_HOURLY_LIMIT: '1000000',
    },
    faults: [
      {
        ...broken,
        name: 'mail server away',
        async strike() {
          await current().close();
          return async () => void servers.push(await start());
        },
      },
      {
        ...broken,
        name: 'replies of the mail server lost',
        async strike() {
          current().behave('*', { drops: 'after' });
          return async () => current().behave('*', {});
        },
      },
    ],
    delivered: () =>
      received().map(({ mail, isAcknowledged }) => ({
        message: /<([^@]+)@/.exec(mail.messageId ?? '')?.[1] ?? 'no Message-ID',
        isAcknowledged,
      })),
    async waitForCode(address, timeoutMs) {
      const find = () => received().find(({ to, mail }) => to === address && /\d{6}/.test(mail.text ?? ''));
      await waitUntil(`${address} has a code`, () => find() !== undefined, { timeoutMs }).catch(() => {});
      const mail = find();
      return mail && codeIn(mail);
    },
    stop: () => current().close(),
  };
}
