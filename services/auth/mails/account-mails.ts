import type { Database, Queries } from '#lib/db/database.ts';
import { exponentialBackoff, listedBackoff } from '#lib/deliveries/backoff.ts';
import { createDeliveryEngine, type DeliveryEngine } from '#lib/deliveries/delivery-engine.ts';
import type { AttemptResult, DeliveryKind, DueRow } from '#lib/deliveries/delivery-kind.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import { createSecretBox } from '#lib/jose/secret-box.ts';
import type { MailTransport, SendResult } from '#lib/mail/mail-transport.ts';
import { mailboxOf } from '#lib/mail/mailbox.ts';
import type { Logger } from '#lib/observability/logger.ts';
import type { Metrics } from '#lib/observability/metrics.ts';
import type { Tracing } from '#lib/observability/tracing.ts';
import type { KeyedHash } from '../domain/api-keys.ts';
import {
  accountMailTables,
  addAccountMail,
  countAccountMails,
  insertAccountMail,
  settleAccountMails,
} from '../queries/account-mails.ts';
import { type MailRefusal, whyNotSent } from './mail-limits.ts';
import type { AccountMail, WriteMail } from './write-mail.ts';

/** Mails to people with an account. */
export interface AccountMails {
  /**
   * Queues a mail in the transaction that makes its link; {@link wake} after the COMMIT.
   * @param mail.isByStranger whether somebody without a sign-in causes it. @returns why it is not sent.
   */
  queue(
    tx: Queries,
    account: string,
    mail: Omit<AccountMail, 'until'> & { expiresAt: Date; isByStranger?: boolean },
  ): Promise<MailRefusal>;
  wake(): void;
  start(): void;
  stop(): Promise<void>;
}

interface Dependencies {
  db: Database;
  transport: MailTransport;
  /** `mailFrom`: the sender, as it is set when a mail is sent. */
  instance: { readonly mailFrom: string };
  write: WriteMail;
  /** Secrets that encrypt waiting mails. */
  keys: readonly Uint8Array[];
  keyedHash: Pick<KeyedHash, 'hash'>;
  log: Logger;
  metrics?: Pick<Metrics, 'deliveries'> | undefined;
  tracing?: Tracing | undefined;
}

type MailRow = DueRow & { account: string; sealed: Buffer; isExpired: boolean };

const minute = 60_000;
const backoff = listedBackoff({
  waitsMs: [2_000, 10_000, minute, 5 * minute, 10 * minute, 60 * minute, 6 * 60 * minute],
  jitter: 0.2,
});
const outageWait = exponentialBackoff({ minMs: 250, maxMs: 30_000 });

export function createAccountMails({ tracing, ...dependencies }: Dependencies): AccountMails {
  const { db, transport, keys, keyedHash, log, metrics } = dependencies;
  const box = createSecretBox(keys, 'accord account mails');
  const engine: DeliveryEngine = createDeliveryEngine({
    db,
    kind: mailDeliveries({ ...dependencies, box }),
    limits: { perTarget: 4, total: 4, readAhead: 4, maxUnsettled: 4, slowMs: 5_000, maxAgeMs: 5_000 },
    log,
    metrics: metrics?.deliveries,
    tracing,
  });
  return {
    async queue(tx, account, { expiresAt, isByStranger = false, ...mail }) {
      const mailbox = keyedHash.hash(`mails to ${mailboxOf(mail.to)}`);
      const refusal = whyNotSent(await countAccountMails(tx, mailbox), { isByStranger });
      if (refusal !== null) {
        log.warn('mail to an account not sent: a limit is reached', { id: account, code: refusal });
        return refusal;
      }
      await addAccountMail(tx, mailbox);
      const id = newUuid();
      const content: AccountMail = { ...mail, until: expiresAt.toISOString() };
      const sealed = box.seal(id, JSON.stringify(content));
      await insertAccountMail(tx, { id, account, sealed, expiresAt });
      return null;
    },
    wake: () => engine.wake(),
    start: engine.start,
    async stop() {
      await engine.stop();
      await transport.close();
    },
  };
}

function mailDeliveries({
  transport,
  instance,
  write,
  box,
  log,
}: Omit<Dependencies, 'db' | 'keys' | 'keyedHash'> & {
  box: ReturnType<typeof createSecretBox>;
}): DeliveryKind<MailRow, string | null> {
  return {
    name: 'account-mail',
    tables: accountMailTables,
    backoff,
    targetBackoff: (failures, random, error) => (error === null ? 0 : outageWait(failures, random)),
    async attempt({ id, sealed, isExpired }, { signal }) {
      if (isExpired) return { kind: 'obsolete', facts: null };
      const mail = JSON.parse(box.open(id, sealed)) as AccountMail;
      const content = { ...write(mail), id, from: instance.mailFrom, to: mail.to, attachments: [] };
      return readResult(await transport.send(content, signal));
    },
    describeError: () => 'internal',
    async settle(tx, settlements) {
      await settleAccountMails(tx, settlements);
      for (const { row, ending, facts, hasThrown } of settlements)
        if (ending !== 'done' && ending !== 'obsolete' && !hasThrown)
          log.warn(`mail to an account not sent; ${ending === 'retry' ? 'retried' : 'not retried'}`, {
            id: row.account,
            count: row.attempts + 1,
            code: facts ?? 'internal',
          });
    },
  };
}

function readResult(result: SendResult): AttemptResult<string | null> {
  if (result.result === 'sent') return { kind: 'done', facts: null };
  return { kind: result.result === 'refused' ? 'refused' : 'retry', facts: result.error };
}
