import type { MessagesPage } from '#lib/contracts/pages.ts';
import type { Reader } from '#lib/pages/reader.ts';

/** The messages of a demonstration: mails as they look, text messages as text. */
export function messagesView({ messages }: MessagesPage, reader: Reader) {
  return {
    title: reader.t('messages.title'),
    messages: messages.map(({ at, from, to, subject, html, text, attachments, sizes }) => ({
      title: subject ?? reader.t('messages.sms'),
      at: reader.dateTime(at),
      from: from === undefined ? [] : [from],
      to: [to],
      attachments: attachments.map((name, place) =>
        reader.t('messages.file', { name, size: String(Math.ceil((sizes[place] ?? 0) / 1024)) }),
      ),
      html: html ?? null,
      text,
    })),
  };
}
