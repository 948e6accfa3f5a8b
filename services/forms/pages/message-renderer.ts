import type { MessageContent, RenderedMessage } from '#lib/contracts/messages.ts';
import type { Template } from '#lib/pages/load-templates.ts';
import { mailText } from './page-text.ts';
import type { Reader } from './reader.ts';

/** Writes mails and SMS to subjects. */
export function createMessageRenderer(template: Template) {
  return (content: MessageContent, reader: Reader): RenderedMessage => {
    const { kind, channel, organisation, link, code, minutes } = content;
    const { t, language } = reader;
    const subject = t(`message.${kind}.subject`, { organisation });
    const life = code && minutes !== null ? t('message.code.life', { minutes }) : null;
    if (channel === 'sms') {
      const host = new URL(content.instance.baseUrl).hostname;
      const lines = code
        ? [`${t('message.sms.code', { organisation })} ${code}. ${life ?? ''}`, `@${host} #${code}`]
        : [subject, link];
      return { language, subject: null, text: lines.filter(Boolean).join('\n'), html: null };
    }
    const html = template({ reader, t, subject, content, life });
    return { language, subject, text: mailText(html), html };
  };
}
