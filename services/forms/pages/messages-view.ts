import type { MessagesPage } from '#lib/contracts/pages.ts';
import type { Reader } from '#lib/pages/reader.ts';

/** The messages of a demonstration: mails as they look, text messages as text. */
export function messagesView({ messages }: MessagesPage, reader: Reader) {
  return {
    title: reader.t('messages.title'),
    messages: messages.map(({ at, from, to, mail, text }) => ({
      title: mail?.subject ?? reader.t('messages.sms'),
      at: reader.dateTime(at),
      from: from === null ? [] : [from],
      to: [to],
      attachments: (mail?.attachments ?? []).map(({ name, bytes }) =>
        reader.t('messages.file', { name, size: String(Math.ceil(bytes / 1024)) }),
      ),
      html: mail?.html ?? null,
      text,
    })),
  };
}
