import type { MessagesPage } from '#lib/contracts/pages.ts';
import { fail } from '#lib/errors/fail.ts';
import type { OperationHandlers } from '#lib/http/operation.ts';
import { sendPage } from '#lib/http/send.ts';
import type { KeptMessage } from '../delivery/demo.ts';
import type { Message } from '../messages/message.ts';
import { listMessages } from '../messages/store.ts';
import { inviteSubject, readInvitation } from '../request/invite.ts';
import { noSuchTransaction } from '../transaction/access.ts';
import { readTransaction } from '../transaction/store.ts';
import type { Dependencies } from './dependencies.ts';
import { readerLanguages } from './send.ts';

/** /consents/{txid}/invitation, /consents/{txid}/messages, /demo/messages */
export function messageHandlers(dependencies: Dependencies) {
  const { db } = dependencies;
  return {
    async sendInvitation(ctx, { params, principal, form, body }) {
      const invitation = readInvitation(form ? {} : body);
      ctx.status = 202;
      ctx.body = presentMessage(
        await inviteSubject(dependencies, { id: params.txid, principal, invitation }),
      );
    },

    async listMessages(ctx, { params }) {
      const read = await readTransaction(db, params.txid);
      if (!read) throw noSuchTransaction();
      ctx.body = (await listMessages(db, read.transaction.id)).map(presentMessage);
    },

    async listDemoMessages(ctx, { mode }) {
      const { mailbox, forms, instance } = dependencies;
      if (!mailbox) throw fail('not-found', 'Resource not found.');
      const kept = mailbox.messages();
      if (mode === 'json') {
        ctx.body = kept.map(presentKept);
        return;
      }
      const languages = readerLanguages(ctx, undefined, instance.language);
      const page = { page: 'messages', messages: kept.map(shownMessage) } as const;
      const { html } = await forms.renderPage({ page, languages });
      sendPage(ctx, html, { inlineStyles: true });
    },
  } satisfies OperationHandlers;
}

function presentKept({ at, channel, message }: KeptMessage) {
  const { id, from, to, text } = message;
  const mail = channel === 'mail' ? message : undefined;
  return {
    id,
    at: at.toISOString(),
    channel,
    from: from ?? undefined,
    to,
    subject: mail?.subject,
    text,
    attachments: mail?.attachments.map(({ filename }) => filename) ?? [],
  };
}

function shownMessage(kept: KeptMessage): MessagesPage['messages'][number] {
  const { channel, message } = kept;
  const { html, attachments } = channel === 'mail' ? message : { html: undefined, attachments: [] };
  return { ...presentKept(kept), html, sizes: attachments.map(({ content }) => content.length) };
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
