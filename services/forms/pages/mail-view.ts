import type { MessageContent } from '#lib/contracts/messages.ts';
import type { Reader } from '#lib/pages/reader.ts';
import type { RenderMessage } from './message-renderer.ts';
import type { MailPage } from './page-model.ts';

/** The preview of an `email` model: the mail with sample values, in the content's own language. */
export function mailView(
  { kind, mail, lang, instance }: MailPage,
  reader: Reader,
  renderMessage: RenderMessage,
) {
  const isCode = kind === 'code';
  const sample: MessageContent = {
    kind,
    channel: 'mail',
    languages: [lang],
    instance,
    organisation: instance.name,
    purpose: null,
    model: null,
    theme: null,
    link: isCode ? null : `${instance.baseUrl}/`,
    code: isCode ? '123456' : null,
    minutes: isCode ? 10 : null,
    until: null,
    owners: [],
    ...(kind === 'campaign' && {
      campaign: {
        reason: 'CHANGED',
        isReminder: false,
        unsubscribe: `${instance.baseUrl}/choices/unsubscribe`,
      },
    }),
  };
  const { subject, html } = renderMessage(sample, { language: lang, mail, brand: null }, reader);
  return { subject, html, attributes: reader.in(lang) };
}
