import { setImmediate as nextTurn } from 'node:timers/promises';
import type {
  FormChange,
  FormElement,
  FormInformation,
  ProcessingContent,
} from '#lib/contracts/form-content.ts';
import type { Reader } from '#lib/pages/reader.ts';
import { type ComparisonBudget, compareLists, compareWords } from '#lib/text/compare-words.ts';
import { controllerView, processingFacts } from './facts.ts';
import { plainText } from './rich-plain-text.ts';
import type { RichText } from './rich-text-tree.ts';

/** A version of an entry in one language. */
export type Item = Pick<FormElement | FormInformation, 'content' | 'entry'>;
type Fields = FormChange['fields'];

/** What people read of a content, by the name of the member. A list is compared by item. */
type Shown = Record<string, string | string[] | undefined>;

/**
 * Lists what differs between two versions of one entry, as people read them. Texts in different languages are
 * given in full, without parts.
 */
export async function compareContents(
  before: Item,
  after: Item,
  { reader, rich, budget }: { reader: Reader; rich: RichText; budget: ComparisonBudget },
): Promise<Fields> {
  // Other requests have a turn between texts.
  await nextTurn();
  const old = shownOf(before, reader, rich);
  await nextTurn();
  const now = shownOf(after, reader, rich);
  const isSameLanguage = before.content.lang === after.content.lang;
  const fields: Fields = [];
  for (const field of Object.keys({ ...now, ...old })) {
    const [was, is] = [textOf(old[field]), textOf(now[field])];
    if (was === is) continue;
    const compared = { language: after.content.lang, budget };
    const parts = isSameLanguage ? await partsOf(old[field], now[field], compared) : undefined;
    const label = reader.t(`change.field.${field}`);
    fields.push({
      field,
      label,
      old: was,
      oldLanguage: before.content.lang,
      new: is,
      ...(parts && { parts }),
    });
  }
  return fields;
}

function textOf(value: Shown[string]): string {
  return Array.isArray(value) ? value.join('\n') : (value ?? '');
}

async function partsOf(
  before: Shown[string],
  after: Shown[string],
  compared: { language: string; budget: ComparisonBudget },
) {
  return Array.isArray(before) && Array.isArray(after)
    ? compareLists(before, after, compared.budget)
    : compareWords(textOf(before), textOf(after), compared);
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
        dataProtectionOfficer: text('dataProtectionOfficer'),
        supervisoryAuthority: text('supervisoryAuthority'),
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
