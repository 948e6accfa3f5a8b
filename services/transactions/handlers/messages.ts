import type { Handlers } from '#lib/http/operation.ts';
import { inviteSubject } from '../commands/transactions.ts';
import { noSuchTransaction } from '../domain/access.ts';
import type { Message } from '../domain/message.ts';
import { listMessages } from '../queries/messages.ts';
import { readTransaction } from '../queries/transactions.ts';
import type { Dependencies } from './handlers.ts';

/** /consents/{txid}/invitation, /consents/{txid}/messages */
export function messageHandlers(dependencies: Dependencies): Handlers {
  const { db } = dependencies;
  return {
    async sendInvitation(ctx, { params }) {
      ctx.status = 202;
      ctx.body = presentMessage(await inviteSubject(dependencies, params.txid ?? ''));
    },

    async listMessages(ctx, { params }) {
      const read = await readTransaction(db, params.txid ?? '');
      if (!read) throw noSuchTransaction();
      ctx.body = (await listMessages(db, read.transaction.id)).map(presentMessage);
    },
  };
}

/** Members without a value are left out. */
function presentMessage({ destination, createdAt, sentAt, error, ...message }: Message) {
  return {
    ...message,
    to: destination,
    created: createdAt.toISOString(),
    sent: sentAt?.toISOString(),
    error: error ?? undefined,
  };
}
