import type {
  FormChange,
  FormElement,
  FormInformation,
  ProcessingContent,
} from '#lib/contracts/form-content.ts';
import type { Reader } from '#lib/pages/reader.ts';
import { compareLists, compareWords } from '#lib/text/compare-words.ts';
import { controllerView, processingFacts } from './facts.ts';
import type { RichNode, RichText } from './rich-text-tree.ts';

/** A version of an entry in one language. */
export type Item = Pick<FormElement | FormInformation, 'content' | 'entry'>;
type Fields = FormChange['fields'];

/** What people read of a content, by the name of the member. A list is compared by item. */
type Shown = Record<string, string | string[] | undefined>;

/**
 * Lists what differs between two versions of one entry, as people read them. Texts in different languages are
 * given in full, without parts.
 */
export function compareContents(
  before: Item,
  after: Item,
  { reader, rich }: { reader: Reader; rich: RichText },
): Fields {
  const [old, now] = [before, after].map((item) => shownOf(item, reader, rich)) as [Shown, Shown];
  const isSameLanguage = before.content.lang === after.content.lang;
  return Object.keys({ ...now, ...old }).flatMap((field) => {
    const [was, is] = [textOf(old[field]), textOf(now[field])];
    if (was === is) return [];
    const parts = isSameLanguage ? partsOf(old[field], now[field], after.content.lang) : undefined;
    const label = reader.t(`change.field.${field}`);
    return [{ field, label, old: was, oldLanguage: before.content.lang, new: is, ...(parts && { parts }) }];
  });
}

function textOf(value: Shown[string]): string {
  return Array.isArray(value) ? value.join('\n') : (value ?? '');
}

function partsOf(before: Shown[string], after: Shown[string], language: string) {
  return Array.isArray(before) && Array.isArray(after)
    ? compareLists(before, after)
    : compareWords(textOf(before), textOf(after), language);
}

function shownOf({ content, entry }: Item, reader: Reader, rich: RichText): Shown {
  const texts = content as Record<string, unknown>;
  const text = (name: string) => (typeof texts[name] === 'string' ? (texts[name] as string) : undefined);
  const plain = (name: string) => plainText(rich(text(name)));
  switch (entry.type) {
    case 'processing':
      return processingShown(content as ProcessingContent, reader);
    case 'preference':
      return {
        label: text('label'),
        description: text('description'),
        options: (texts.options as string[] | undefined) ?? [],
      };
    case 'conditions':
      return {
        title: text('title'),
        body: plain('body'),
        acceptLabel: text('acceptLabel'),
        rejectLabel: text('rejectLabel'),
      };
    default:
      return {
        title: text('title'),
        header: plain('header'),
        footer: plain('footer'),
        controller: controllerText(texts.dataController),
        scope: text('scope'),
        jurisdiction: text('jurisdiction'),
        privacyPolicyUrl: text('privacyPolicyUrl'),
      };
  }
}

function processingShown(content: ProcessingContent, reader: Reader): Shown {
  const { data, retention, warnings, purposes, legalBases, thirdParties } = processingFacts(content, reader);
  return {
    title: content.title,
    usage: content.usage,
    data,
    warnings,
    retention,
    purposes,
    legalBases,
    thirdParties:
      thirdParties?.length === 0
        ? [reader.t('processing.noThirdParties')]
        : thirdParties?.map(({ name, value }) => (value ? `${name}: ${value}` : name)),
    controller: controllerText(content.dataController),
  };
}

function controllerText(controller: unknown): string {
  const view = controllerView(controller as Parameters<typeof controllerView>[0]);
  if (!view) return '';
  const { company, info, address, email, phoneNumber } = view;
  return [company, info, address, email, phoneNumber].filter(Boolean).join('\n');
}

const blocks = new Set('p hr pre blockquote ul ol li dl dt dd table tr h1 h2 h3 h4 h5 h6 br'.split(' '));

/** The text of rich text, a line for each block. */
function plainText(nodes: readonly RichNode[]): string {
  const write = (node: RichNode): string =>
    'text' in node
      ? node.text
      : `${blocks.has(node.tag) ? '\n' : ''}${node.children.map(write).join('')}${blocks.has(node.tag) ? '\n' : ''}`;
  return nodes
    .map(write)
    .join('')
    .split(/\n+/)
    .map((line) => line.trim())
    .filter(Boolean)
    .join('\n');
}
