import type { MailPage } from '#lib/contracts/pages.ts';
import type { Reader } from './reader.ts';
import type { RichText } from './rich-text-tree.ts';

/** The preview of a mail: its head and its body, in the content's own language. */
export function mailView({ mail, lang }: MailPage, reader: Reader, rich: RichText) {
  return {
    title: mail.title || mail.subject,
    attributes: reader.in(lang),
    body: rich(mail.body, 3),
    footer: rich(mail.footer, 3),
    signature: rich(mail.signature, 3),
  };
}
