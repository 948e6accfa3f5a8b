import { consentNotices } from '#lib/contracts/element-rules.ts';
import type {
  FormChange,
  FormElement,
  FormInformation,
  PreviousAnswer,
} from '#lib/contracts/form-content.ts';
import type { DescribedElement, FormDescription } from '#lib/contracts/forms.ts';
import type { FormPage, PageOptions, ShownForm } from '#lib/contracts/pages.ts';
import { type EarlierRecord, major, validRecords } from '#lib/contracts/record-status.ts';
import type { ActiveVersions } from '#lib/contracts/versions.ts';
import { presentPeer } from '../domain/content-version.ts';
import { enteredAgain, keepAnswers, shownIn } from '../domain/entered-answers.ts';
import type { FormModel } from '../pages/page-model.ts';
import { readActive } from '../queries/active-entries.ts';
import type { FormsContext } from './context.ts';
import { describeForm } from './describe-form.ts';
import { presentActive } from './read-form.ts';

/**
 * The form that a page asks for, with the subject's earlier answers, what has changed since, and what was
 * entered before.
 * @throws Failure as `describeForm`.
 */
export async function fillForm(
  context: FormsContext,
  { earlier: answered, now, hides, entered, links, ...page }: FormPage,
  { languages, colorScheme }: PageOptions,
): Promise<FormModel & { form: ShownForm }> {
  const { layout, peersOptional } = page;
  const description = await describeForm(context, { layout, languages });
  const { language, languages: complete, theme, texts } = description;
  const earlier = answered.map(toRecord);
  const active = { ...description.active, ...(await activeElsewhere(context, description, earlier)) };
  const notices = consentNotices(description.elements);
  const valid = validRecords(earlier, { active, notices }, new Date(now));
  const changes = await readChanges(context, description, earlier);
  const withChange = <Item extends FormInformation | FormElement>(item: Item): Item => {
    const change = changes.get(item.identifier);
    return change ? { ...item, change } : item;
  };
  const peerElement = (element: DescribedElement) =>
    ({ ...(peersOptional ? asOptional(element) : element), previous: null }) as FormElement;
  // Only the peer knows earlier answers to its elements; our records with the same key are of other elements.
  const elements = description.elements.map((element) =>
    element.owner === null
      ? ({ ...element, previous: previousAnswer(element, valid) } as FormElement)
      : peerElement(element),
  );
  const isShown = shownIn(entered?.answers ?? {});
  const isHidden = ({ previous, identifier }: FormElement) =>
    hides && previous !== null && !isShown(identifier);
  const hidden = elements.filter(isHidden);
  const form = {
    language,
    languages: complete,
    info: withChange<FormInformation>({ ...description.info, previous: null }),
    elements: elements.filter((element) => !isHidden(element)).map(withChange),
    peers: description.peers.map((peer) => ({
      ...presentPeer(peer),
      elements: peer.elements.map(peerElement),
    })),
    layout: { ...layout, ...texts },
    ...(links && { links }),
  };
  const again = { ...form, hidden };
  return {
    ...page,
    now,
    form,
    hidden,
    language,
    theme,
    instance: context.instance,
    ...(colorScheme && { colorScheme }),
    ...(entered && {
      entered: entered.check
        ? keepAnswers(entered.check, entered.answers, again)
        : enteredAgain(entered.answers, again),
    }),
  };
}

const toRecord = ({ committedAt, expiresAt, ...answer }: FormPage['earlier'][number]): EarlierRecord => ({
  ...answer,
  committedAt: new Date(committedAt),
  expiresAt: expiresAt === null ? null : new Date(expiresAt),
});

/** Versions of informations under which the subject answered in other forms. */
async function activeElsewhere(
  { db }: FormsContext,
  { active }: FormDescription,
  earlier: readonly EarlierRecord[],
): Promise<ActiveVersions> {
  const keys = new Set(earlier.map(({ infoKey }) => infoKey).filter((key) => !Object.hasOwn(active, key)));
  return keys.size > 0 ? presentActive(await readActive(db, { keys: [...keys] })) : {};
}

/** The element without a preset answer and without the need to answer it. */
function asOptional(element: DescribedElement): DescribedElement {
  const { content } = element;
  const unset = 'includeDefault' in content ? { ...content, includeDefault: false } : content;
  return { ...element, required: false, content: unset } as DescribedElement;
}

/**
 * The subject's valid answer to an element; options are matched by position and shown in the current texts.
 */
function previousAnswer(element: DescribedElement, valid: readonly EarlierRecord[]): PreviousAnswer | null {
  const record = valid.find(({ key }) => key === element.entry.key);
  if (!record) return null;
  const { answers } = element;
  const texts =
    element.entry.type === 'preference' && record.positions && answers
      ? record.positions.flatMap((position) => answers[position] ?? [])
      : record.value;
  return {
    identifier: `element/${record.type}/${record.key}/${record.serial}`,
    answers: texts,
    created: record.committedAt.toISOString(),
    ...(record.importedFrom && { importedFrom: record.importedFrom }),
  };
}

/** What has changed since the subject answered the form's items, by identifier; usually nothing. */
async function readChanges(
  { compareVersions }: FormsContext,
  description: FormDescription,
  earlier: readonly EarlierRecord[],
): Promise<Map<string, FormChange>> {
  const pairs = outdatedItems(description, earlier);
  if (pairs.length === 0) return new Map();
  const compared = await compareVersions(pairs, description.language);
  return new Map(
    pairs.flatMap(({ from, to, since }, index) => {
      const fields = compared[index] ?? [];
      return fields.length > 0 ? [[to, { from, since, fields }]] : [];
    }),
  );
}

/** Pairs of versions of own items: what the subject answered last, and what the form shows instead. */
function outdatedItems({ info, elements }: FormDescription, earlier: readonly EarlierRecord[]) {
  const newest = earlier.toSorted((a, b) => b.committedAt.getTime() - a.committedAt.getTime());
  const answered = newest.map(({ type, key, serial, committedAt }) => ({ type, key, serial, committedAt }));
  const informed = newest.map(({ infoKey: key, infoSerial: serial, committedAt }) => {
    return { type: 'information', key, serial, committedAt };
  });
  return [info, ...elements].flatMap((item) => {
    if (item.owner !== null) return [];
    const { type, key } = item.entry;
    const last = (type === 'information' ? informed : answered).find((each) => each.key === key);
    if (!last || major(last.serial) === major(item.serial)) return [];
    const from = `element/${type}/${key}/${last.serial}`;
    return [{ from, to: item.identifier, since: last.committedAt.toISOString() }];
  });
}
