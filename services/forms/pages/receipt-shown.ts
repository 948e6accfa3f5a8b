import { isNotice, isObjection } from '#lib/contracts/element-rules.ts';
import type { ReceiptPeer, ReceiptUnanswered } from '#lib/contracts/receipt-body.ts';
import type { LanguageAttributes, Reader } from '#lib/pages/reader.ts';
import { safeUrl } from '../domain/rich-text.ts';
import { controllerView, processingFacts } from './facts.ts';
import type { RichBlocks } from './rich-blocks.ts';

/** Texts on a receipt. Not every kind of information has every member. */
type Texts = Record<string, unknown>;

/** The texts of an information that the page of the form showed. */
export function informationView(
  { identifier, sha256, lang, texts }: ReceiptPeer['information'],
  reader: Reader,
  rich: RichBlocks,
) {
  const attributes = reader.in(lang);
  return {
    title: text(texts.title),
    attributes,
    header: richIn(texts.header, rich, 4),
    footer: richIn(texts.footer, rich, 4),
    controller: shownController(texts, false),
    scope: texts.scopeVisible === true ? text(texts.scope) : null,
    jurisdiction: texts.jurisdictionVisible === true ? text(texts.jurisdiction) : null,
    officer: text(texts.dataProtectionOfficer),
    authority: text(texts.supervisoryAuthority),
    links: linkViews(texts, attributes, reader),
    identifier,
    sha256,
  };
}

interface LinkView {
  label: string;
  /** The language of a label that is a text of the information. */
  attributes: LanguageAttributes;
  url: string;
}

/** The links of an information. Their URLs are shown as texts, because paper has no links. */
function linkViews(texts: Texts, attributes: LanguageAttributes, reader: Reader): LinkView[] {
  const own = text(texts.customPrivacyPolicyText);
  const notice = texts.shortNoticeLinkVisible === true ? safeUrl(text(texts.shortNoticeLink)) : null;
  const policy = safeUrl(text(texts.privacyPolicyUrl));
  return [
    ...(notice ? [{ label: reader.t('form.shortNotice'), attributes: {}, url: notice }] : []),
    ...(policy
      ? [
          {
            label: own ?? reader.t('receipt.privacyPolicy'),
            attributes: own ? attributes : {},
            url: policy,
          },
        ]
      : []),
  ];
}

/** An element as the receipt records it; a peer's has neither type nor options. */
type ShownElement = ReceiptPeer['elements'][number] & Partial<Pick<ReceiptUnanswered, 'type' | 'options'>>;

/** The texts of an element and its choices, as the page of the form showed them. */
export function elementView(element: ShownElement, reader: Reader, rich: RichBlocks) {
  const { identifier, sha256, lang, texts } = element;
  const type = element.type ?? identifier.split('/')[1];
  return {
    title: text(texts.title) ?? text(texts.label) ?? identifier,
    attributes: reader.in(lang),
    identifier,
    sha256,
    description: text(texts.usage) ?? text(texts.description),
    facts: type === 'processing' ? processingFacts(processingTexts(texts, lang), reader) : null,
    controller: shownController(texts, true),
    body: type === 'conditions' ? richIn(texts.body, rich, 4) : null,
    options: optionViews(element, type, reader),
  };
}

/** The choices offered, each with the language of a label that is a text of the element. */
function optionViews(
  { identifier, lang, texts, options }: ShownElement,
  type: string | undefined,
  reader: Reader,
): { text: string; attributes: LanguageAttributes }[] {
  if (isNotice(identifier, texts)) return [];
  const own = (label: string) => ({ text: label, attributes: reader.in(lang) });
  if (type === 'preference') return (options ?? listOfTexts(texts.options)).map(own);
  const labels: Record<string, string | null> =
    type === 'conditions' ? { accepted: text(texts.acceptLabel), refused: text(texts.rejectLabel) } : {};
  const offered = options ?? (texts.refusable === false ? ['accepted'] : ['accepted', 'refused']);
  return offered.map((option) => {
    const label = labels[option];
    if (label) return own(label);
    if (isObjection(texts))
      return {
        text: reader.t(option === 'accepted' ? 'answer.noObjection' : 'objection.object'),
        attributes: {},
      };
    const word = option === 'accepted' ? 'accept' : 'refuse';
    const known = type === 'conditions' ? 'conditions' : 'processing';
    return { text: reader.t(`${known}.${word}`), attributes: {} };
  });
}

/** The controller if the page of the form showed it. */
function shownController(texts: Texts, visibleByDefault: boolean) {
  const visible = texts.dataControllerVisible ?? visibleByDefault;
  return visible === true ? controllerView(record(texts.dataController)) : null;
}

function processingTexts(texts: Texts, lang: string): Parameters<typeof processingFacts>[0] {
  return {
    ...(texts as object),
    lang,
    title: text(texts.title) ?? '',
    data: text(texts.data) ?? '',
    usage: text(texts.usage) ?? '',
    retention: record(texts.retention) ?? {},
  };
}

function richIn(value: unknown, rich: RichBlocks, topHeading: number) {
  return rich(text(value) ?? undefined, topHeading);
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null;
}

function listOfTexts(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

function record(value: unknown): Record<string, never> | null {
  return typeof value === 'object' && value !== null ? (value as Record<string, never>) : null;
}
