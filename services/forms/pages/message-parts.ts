import type { MessageContent, MessageElement } from '#lib/contracts/messages.ts';
import type { LanguageAttributes, Reader } from '#lib/pages/reader.ts';
import type { MailPage } from './page-model.ts';
import { createPlaceholders, inlineText } from './placeholders.ts';
import type { RichNode, RichText } from './rich-text-tree.ts';

/** The content of an `email` model in one language. */
export type MailModel = MailPage['mail'];

/** The parts of a message in their order. */
export interface MessageParts {
  subject: string;
  title: string;
  body: RichNode[];
  /** The code on a line of its own; null if there is none, or if the body has it. */
  code: string | null;
  /** After the code, in the language of the built-in texts. */
  note: RichNode[];
  /** Null without a link. */
  button: { label: string; attributes: LanguageAttributes; url: string } | null;
  signature: RichNode[];
  footer: RichNode[];
}

const maxOrganisation = 200;
const maxTitle = 500;

/** The name of the organisation in a message. */
export const organisationOf = ({ organisation, instance }: MessageContent): string =>
  inlineText(organisation, maxOrganisation) || inlineText(instance.name, maxOrganisation);

/** The built-in text of a message. */
export function builtInParts(content: MessageContent, reader: Reader): MessageParts {
  const { kind, code, link, owners, campaign } = content;
  const { t } = reader;
  const values = { organisation: organisationOf(content) };
  const isPart = kind === 'bad-news' && owners.length > 0;
  const allLate = isPart && owners.every(({ late }) => late);
  const title = objects(content)
    ? t('objection.title')
    : t(`message.${kind}.${allLate ? 'titleLate' : isPart ? 'titlePart' : 'title'}`);
  const footer = [
    ...(link ? [t('message.private')] : []),
    t('message.automatic', { instance: inlineText(content.instance.name, maxOrganisation) }),
  ];
  const subject = campaign?.isReminder ? 'reminder' : 'subject';
  return {
    subject: isPart ? title : t(`message.${wordsOf(content)}.${subject}`, values),
    title,
    body: isPart ? lostParts(owners, reader) : bodyOf(content, values, reader),
    code,
    note: [
      ...(code ? [...life(content, reader), t('message.code.ignore')] : []),
      ...leftOut(content, reader),
    ].map(paragraph),
    button:
      link && content.links === undefined
        ? { label: buttonText(content, reader), attributes: {}, url: link }
        : null,
    signature: [],
    footer: [...footer.map(paragraph), ...unsubscribeLink(content, reader)],
  };
}

function bodyOf(content: MessageContent, values: { organisation: string }, reader: Reader): RichNode[] {
  const { kind, purpose, until, withdrawn, campaign } = content;
  const { t } = reader;
  const title = purpose === null ? '' : inlineText(purpose, maxTitle);
  if (kind === 'code') return [paragraph(t('message.code.text', values))];
  if (kind === 'choices') return choicesBody(content, values, reader);
  if (kind === 'bad-news') {
    const about = title ? [t('message.bad-news.about', { purpose: title })] : [];
    return [t('message.bad-news.text', values), ...about].map(paragraph);
  }
  if (campaign) {
    const about = title ? [t('message.campaign.about', { purpose: title })] : [];
    const ends = until ? [t('message.campaign.until', { date: reader.dateTime(until) })] : [];
    const texts = [
      t(`message.campaign.${campaign.reason}`, values),
      ...about,
      t('message.campaign.how'),
      ...ends,
    ];
    return texts.map(paragraph);
  }
  return [
    paragraph(
      title && !objects(content)
        ? t(`message.${kind}.textPurpose`, { ...values, purpose: title })
        : t(`message.${wordsOf(content)}.text`, values),
    ),
    ...withdrawnElements(withdrawn, reader),
    paragraph(t(`message.${kind}.how`)),
    ...(until ? [paragraph(t(`message.${kind}.until`, { date: reader.dateTime(until) }))] : []),
  ];
}

/** Whether the message tells of objections alone, which are no withdrawals. */
function objects({ withdrawn = [] }: MessageContent): boolean {
  return withdrawn.length > 0 && withdrawn.every(({ isObjection }) => isObjection);
}

/** The name that the built-in texts have in the catalogue. */
const wordsOf = (content: MessageContent) => (objects(content) ? 'objection' : content.kind);

function buttonText(content: MessageContent, { t }: Reader): string {
  return t(`message.${objects(content) ? 'notification' : content.kind}.button`);
}

/** The link to the choices; an address of several people gets one for each of them. */
function choicesBody(
  { links = [], minutes }: MessageContent,
  values: { organisation: string },
  { t }: Reader,
): RichNode[] {
  const items = links.map(({ name, url }) =>
    element('li', [
      { text: `${inlineText(name, maxTitle)}: ` },
      element('a', [{ text: t('message.choices.button') }], { href: url }),
    ]),
  );
  return [
    paragraph(t('message.choices.text', values)),
    ...(items.length > 0 ? [paragraph(t('message.choices.several')), element('ul', items)] : []),
    paragraph(t('message.choices.life', { minutes: minutes ?? 0 })),
    paragraph(t('message.choices.ignore')),
  ];
}

/** What was withdrawn, by the organisation that had asked. */
function withdrawnElements(withdrawn: MessageContent['withdrawn'] = [], reader: Reader): RichNode[] {
  return withdrawn.flatMap(({ peer, isObjection, elements }) => [
    paragraph(
      peer === null
        ? reader.t(`message.${isObjection ? 'objection' : 'withdrawal'}.what`)
        : reader.t('message.withdrawal.whatAt', { owner: inlineText(peer, maxOrganisation) }),
    ),
    listOf(elements, reader),
  ]);
}

function listOf(elements: readonly MessageElement[], reader: Reader): RichNode {
  const items = elements.map(({ title, lang }) => {
    const attributes = reader.in(lang) as Record<string, string>;
    return element('li', [element('span', [{ text: inlineText(title, maxTitle) }], attributes)]);
  });
  return element('ul', items);
}

/** Which answers were not saved, or not confirmed in time, with the built-in texts. */
function lostParts(owners: MessageContent['owners'], reader: Reader): RichNode[] {
  return [
    paragraph(reader.t(`message.bad-news.text${owners.every(({ late }) => late) ? 'Late' : 'Part'}`)),
    ...ownersElements(owners, reader),
    paragraph(reader.t('message.bad-news.rest')),
  ];
}

/** The answers that were not saved, or not confirmed in time, by owner. */
function ownersElements(owners: MessageContent['owners'], reader: Reader): RichNode[] {
  return owners.flatMap(({ name, elements, late }): RichNode[] => {
    const owner = inlineText(name, maxOrganisation);
    const text = `message.bad-news.owner${late ? 'Late' : ''}` as const;
    if (elements.length === 0) return [paragraph(reader.t(`${text}All`, { owner }))];
    return [paragraph(reader.t(text, { owner })), listOf(elements, reader)];
  });
}

/** How messages of campaigns are ended, whatever a model says (RFC 8058 has it in a header besides). */
function unsubscribeLink({ campaign }: MessageContent, { t }: Reader, attributes = {}): RichNode[] {
  if (!campaign) return [];
  const link = element('a', [{ text: t('message.campaign.unsubscribe') }], { href: campaign.unsubscribe });
  return [element('p', [link], attributes)];
}

/** That the receipt is not attached, although models may say that it is. */
function leftOut({ isReceiptLeftOut }: MessageContent, { t }: Reader): string[] {
  return isReceiptLeftOut ? [t('message.receiptLeftOut')] : [];
}

function life({ minutes }: MessageContent, { t }: Reader): string[] {
  return minutes === null ? [] : [t('message.code.life', { minutes })];
}

/**
 * The text of an `email` model. The code, the link of a message that has one, and what was withdrawn or not
 * stored are always shown, whatever the model says.
 * @param language of the model's text; the reader's may be another one.
 */
export function modelParts(
  content: MessageContent,
  mail: MailModel,
  { language, reader, rich }: { language: string; reader: Reader; rich: RichText },
): MessageParts {
  const { code, link } = content;
  const attributes = ownAttributes(language, reader);
  const dir = reader.in(language).dir ?? reader.dir;
  const { line, rich: fill, filled } = createPlaceholders(content, organisationOf(content), { dir });
  const title = line(mail.title || mail.subject);
  const body = fill(rich(mail.body, 2));
  const signature = fill(rich(mail.signature, 2));
  const footer = fill(rich(mail.footer, 2));
  // Read before the subject is filled in: a code in the subject alone would be missing in the mail.
  const saysCode = filled.has('code');
  const saysMinutes = filled.has('minutes');
  return {
    subject: inlineText(line(mail.subject), maxTitle),
    title,
    body,
    code: saysCode ? null : code,
    note: [
      ...(code && !saysMinutes ? life(content, reader).map(paragraph) : []),
      ...withdrawnElements(content.withdrawn, reader),
      ...ownersElements(content.owners, reader),
      ...leftOut(content, reader).map(paragraph),
    ].map((node) => withAttributes(node, attributes as Record<string, string>)),
    button: link ? buttonOf(link, mail, () => buttonText(content, reader), attributes) : null,
    signature,
    footer: [...footer, ...unsubscribeLink(content, reader, attributes)],
  };

  function buttonOf(url: string, { buttonLabel }: MailModel, builtIn: () => string, own: LanguageAttributes) {
    return buttonLabel
      ? { label: line(buttonLabel), attributes: {}, url }
      : { label: builtIn(), attributes: own, url };
  }
}

/** Attributes of the built-in texts in a message in `language`. */
export function ownAttributes(language: string, reader: Reader): LanguageAttributes {
  return reader.in(language).lang ? { lang: reader.language, dir: reader.dir } : {};
}

function element(tag: string, children: RichNode[], attributes: Record<string, string> = {}): RichNode {
  return { tag, attributes, children };
}

/** A block of the built-in texts in a message in another language. */
function withAttributes(node: RichNode, attributes: Record<string, string>): RichNode {
  return 'tag' in node ? { ...node, attributes: { ...node.attributes, ...attributes } } : node;
}

function paragraph(text: string): RichNode {
  return element('p', [{ text }]);
}
