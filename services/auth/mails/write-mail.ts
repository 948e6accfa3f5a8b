import { mailStyles } from '#lib/mail/mail-style.ts';
import { loadMailTemplate } from '#lib/mail/mail-template.ts';
import type { OutgoingMail } from '#lib/mail/mail-transport.ts';
import { dateText, hourStyle } from '#lib/pages/date-text.ts';
import type { IssuerInstance } from '../issuer/render-pages.ts';
import type { FindWords } from '../issuer/words.ts';

/**
 * `invitation`: to choose the first password. `reset`: to choose another one, because its person forgot it.
 * `address`: to confirm that mails to the account go to this address.
 */
export type AccountMailKind = 'invitation' | 'reset' | 'address';

/** A mail to a person with an account. */
export interface AccountMail {
  kind: AccountMailKind;
  to: string;
  /** Username of the account. */
  name: string;
  /** URL that its button opens. */
  link: string;
  /** BCP 47, best first. */
  languages: string[];
  /** RFC 3339: until when the link can be used. */
  until: string;
}

/** Writes the text of a mail. */
export type WriteMail = (mail: AccountMail) => Pick<OutgoingMail, 'subject' | 'text' | 'html' | 'language'>;

/** @param instance as it is set when a mail is written. */
export function createMailWriter(instance: IssuerInstance, words: FindWords): WriteMail {
  const template = loadMailTemplate();
  return ({ kind, name, link, languages, until }) => {
    const { language, dir, t } = words([...languages, instance.language]);
    const format = new Intl.DateTimeFormat(language, {
      year: 'numeric',
      month: 'long',
      day: 'numeric',
      hour: hourStyle(language),
      minute: '2-digit',
      timeZoneName: 'short',
      timeZone: instance.timeZone,
    });
    const time = dateText(format, new Date(until));
    const values = { instance: instance.name, name, time };
    const say = (part: string) => t(`mail.${kind}.${part}`, values);
    const [subject, title, button] = [say('subject'), say('title'), say('button')];
    const body = [say('text')];
    const footer = [t('mail.until', values), say('ignore'), t('mail.automatic', values)];
    const view = {
      subject,
      title,
      sender: instance.name,
      lang: language,
      dir,
      styles: mailStyles(dir),
      own: {},
      body: body.map(paragraph),
      code: null,
      note: [],
      button: { label: button, attributes: {}, url: link },
      linkHint: t('mail.linkHint'),
      signature: [],
      footer: footer.map(paragraph),
    };
    const text = `${[title, ...body, `${button}:\n${link}`, ...footer].join('\n\n')}\n`;
    return { language, subject, text, html: template({ view }) };
  };
}

/** As the template draws texts. */
function paragraph(text: string) {
  return { tag: 'p', attributes: {}, children: [{ text }] };
}
