import type { MessageContent, RenderedMessage } from '#lib/contracts/messages.ts';
import { mailStyles } from '#lib/mail/mail-style.ts';
import type { Template } from '#lib/pages/load-templates.ts';
import type { Reader } from '#lib/pages/reader.ts';
import { removeDirectionControls } from '#lib/text/direction-controls.ts';
import { mailUrl } from '../domain/rich-text.ts';
import {
  builtInParts,
  type MailModel,
  type MessageParts,
  modelParts,
  organisationOf,
  ownAttributes,
} from './message-parts.ts';
import { mailText } from './page-text.ts';
import { plainText } from './rich-plain-text.ts';
import { createRichText, type RichText } from './rich-text-tree.ts';
import { smsText } from './sms-text.ts';

/** How a message is written. */
export interface MessageStyle {
  /** Language of the model's content. The built-in text has the reader's language instead. */
  language: string;
  /** The content of the `email` model in that language; null for the built-in text. */
  mail: MailModel | null;
  /** Alternative text of the theme's logo, which mails show as text; null without one. */
  brand: string | null;
}

/** Writes mails and SMS to subjects. */
export type RenderMessage = (content: MessageContent, style: MessageStyle, reader: Reader) => RenderedMessage;

/** @param template of lib/mail. */
export function createMessageRenderer(template: Template): RenderMessage {
  const trees = createRichText(mailUrl);
  const rich: RichText = (html, topHeading) => trees(html && removeDirectionControls(html), topHeading);

  return (content, { mail, brand, ...style }, reader) => {
    const language = mail ? style.language : reader.language;
    const partsFor = (given: MessageContent) =>
      mail ? modelParts(given, mail, { language, reader, rich }) : builtInParts(given, reader);
    if (content.channel === 'sms') {
      const wording = (organisation: string) => textOf(partsFor({ ...content, organisation }));
      const text = smsText(content, organisationOf(content), { reader, model: mail && wording });
      return { language, subject: null, text, html: null };
    }
    const parts = partsFor(content);
    const html = template({ view: viewOf(parts, brand ?? organisationOf(content), language, reader) });
    return { language, subject: parts.subject, text: mailText(html), html };
  };
}

/** The text of a model for an SMS. */
function textOf({ subject, body }: MessageParts): string {
  return `${subject}\n${plainText(body)}`;
}

function viewOf(parts: MessageParts, sender: string, language: string, reader: Reader) {
  const { lang = reader.language, dir = reader.dir } = reader.in(language);
  return {
    ...parts,
    sender,
    lang,
    dir,
    styles: mailStyles(dir),
    /** Attributes of built-in texts beside those of a model. */
    own: ownAttributes(language, reader),
    linkHint: reader.t('message.linkHint'),
  };
}
