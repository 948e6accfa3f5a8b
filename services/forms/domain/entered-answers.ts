import { bulkAnswer } from '#lib/contracts/element-rules.ts';
import type {
  FormAction,
  FormElement,
  FormFields,
  FormInformation,
  FormPeer,
} from '#lib/contracts/form-content.ts';
import type { AnswerCheck, PinnedLayout } from '#lib/contracts/forms.ts';
import type { Fault } from '#lib/errors/fail.ts';

const actionField: FormFields['action'] = 'accord-action';
const shownField: FormFields['shown'] = 'accord-shown';
const infoField: FormFields['info'] = 'info';

type Answers = Readonly<Record<string, string[]>>;

/** A fault in an answer, shown in the summary with a link to the element, which becomes `aria-invalid`. */
export interface PageFault {
  /** The element's identifier, or `info`, `comment`. */
  identifier: string;
  /**
   * `required`, `not-refusable`, `too-long`, `too-long-together`, `too-many`, `not-an-option`,
   * `invalid-text`; other codes get a general text.
   */
  code: string;
}

/** Answers entered before, in the form that is shown again. */
export interface EnteredAnswers {
  /** By identifier; they override earlier answers and defaults. */
  values: Record<string, string[]>;
  faults: PageFault[];
  /**
   * Identifiers of elements that are new or have changed since the subject opened the form; the page marks
   * them.
   */
  changed: string[];
  /**
   * Number of questions that were removed since the subject opened the form. Present if the form is shown
   * again because it has changed; the page then says that the answers have not been sent.
   */
  removed?: number;
  /**
   * Whether the answers were entered in a form that was submitted too late; the page says that they have not
   * been submitted.
   */
  kept?: boolean;
}

/** The form in which answers are shown again. */
export interface ShownAgain {
  info: FormInformation;
  elements: readonly FormElement[];
  peers: readonly Pick<FormPeer, 'info'>[];
  /** Elements with a valid answer that are not shown. */
  hidden: readonly FormElement[];
}

/**
 * The form after a rejected submission: answers are kept under the current identifiers; elements that have
 * changed, or whose information has, are marked and have no answer; removed elements are counted.
 * @param answers as the browser sent them, with the pressed button and the shown elements.
 */
export function keepAnswers(
  check: Exclude<AnswerCheck, { outcome: 'valid' }>,
  answers: Answers,
  form: ShownAgain,
): EnteredAnswers {
  const staleNames = check.outcome === 'stale' ? check.stale : [];
  const stale = new Set(staleNames.map(keyOf));
  // What was answered under another information must be answered again.
  const misinformed = new Set(staleNames.filter(isInformation).map(hostOf));
  const givenByKey = new Map(Object.entries(answers).map(([name, values]) => [keyOf(name), values]));
  const isShown = shownIn(answers);
  const isStated = answers[shownField] !== undefined;
  const pressed = pressedIn(answers);
  const values: Record<string, string[]> = {};
  const changed: string[] = [];
  for (const element of form.elements) {
    const { identifier } = element;
    // The key of a peer's element contains a host, because several owners may use the same key.
    const key = keyOf(identifier);
    const given = givenByKey.get(key);
    const bulk = !isStated || isShown(identifier) ? bulkAnswer(element, pressed) : undefined;
    if (stale.has(key) || misinformed.has(hostOf(identifier))) changed.push(identifier);
    else if (bulk !== undefined) values[identifier] = [bulk];
    else if (given) values[identifier] = given;
    // Browsers do not send unchecked boxes; the earlier answer must not be filled in instead.
    else if (isShown(identifier)) values[identifier] = [];
  }
  return {
    values,
    changed,
    ...(staleNames.length > 0 && { removed: countRemoved(staleNames, form) }),
    faults: check.outcome === 'invalid' ? check.faults.map(toPageFault) : [],
  };
}

/** How many of the named elements the form has no longer. */
function countRemoved(names: readonly string[], { elements, hidden }: ShownAgain): number {
  const present = new Set([...elements, ...hidden].map(({ identifier }) => keyOf(identifier)));
  const asked = names.filter((name) => isItem(name) && !isInformation(name));
  return new Set(asked.map(keyOf).filter((key) => !present.has(key))).size;
}

function pressedIn(answers: Answers): FormAction {
  const pressed = answers[actionField]?.at(-1);
  return pressed === 'accept-all' || pressed === 'refuse-all' ? pressed : 'submit';
}

/** Tells whether the page that sent these answers showed an element, in any version. */
export function shownIn(answers: Answers): (identifier: string) => boolean {
  const shown = new Set((answers[shownField] ?? []).map(keyOf));
  return (identifier) => shown.has(keyOf(identifier));
}

/** `element/<type>/<key>/<serial>` → key; a prefix such as `bloc/…/` is ignored. */
function keyOf(identifier: string): string {
  return /element\/[^/]+\/([^/]+)\/[^/]+$/.exec(identifier)?.[1] ?? identifier;
}

/** Whether this is the identifier of an element or an information. */
function isItem(name: string): boolean {
  return /element\/[^/]+\/[^/]+\/[^/]+$/.test(name);
}

function isInformation(identifier: string): boolean {
  return /element\/information\/[^/]+\/[^/]+$/.test(identifier);
}

/** The host in the identifier of a peer's item; undefined for our own. */
function hostOf(identifier: string): string | undefined {
  return hostOfKey(keyOf(identifier));
}

function hostOfKey(key: string): string | undefined {
  return key.split('@')[1];
}

function toPageFault({ pointer, code }: Fault): PageFault {
  const identifier = (pointer.split('/')[1] ?? '').replaceAll('~1', '/').replaceAll('~0', '~');
  return { identifier, code };
}

/** The maximum number of options of a preference. */
const maxValues = 50;

/**
 * A form post as hidden fields of another form: the answers to each element of the layout, the shown elements
 * and informations, and the pressed button. All other fields are left out, so that the page is no larger than
 * the form was. If the post names no element of the layout, there are no fields.
 */
export function enteredFields(
  answers: Answers,
  layout: Pick<PinnedLayout, 'elements'>,
): { name: string; value: string }[] {
  const asked = new Set(layout.elements);
  const hosts = new Set(layout.elements.map(hostOfKey));
  const isKept = (shown: string) =>
    asked.has(keyOf(shown)) || (isInformation(shown) && hosts.has(hostOf(shown)));
  const carried = new Set<string>();
  const fields: { name: string; value: string }[] = [];
  for (const [name, values] of Object.entries(answers)) {
    const keep = (kept: string[]) => fields.push(...kept.map((value) => ({ name, value })));
    if (name === actionField) keep(values.slice(-1));
    else if (name === infoField) keep(values.filter(isInformation).slice(0, 1));
    else if (name === shownField) keep(values.filter(isKept).slice(0, asked.size + hosts.size));
    else if (asked.has(keyOf(name)) && !carried.has(keyOf(name))) {
      carried.add(keyOf(name));
      keep(values.slice(0, maxValues));
    }
  }
  const isAbout = ({ name, value }: { name: string; value: string }) =>
    asked.has(keyOf(name === shownField ? value : name));
  return fields.some(isAbout) ? fields : [];
}

/**
 * The form of a child with the answers of a post to its parent, which were not validated. Elements with a new
 * MAJOR version, or whose information has one, are marked as changed and have no answer.
 * @returns undefined if there is no answer to the form.
 */
export function enteredAgain(answers: Answers, form: ShownAgain): EnteredAnswers | undefined {
  const shown = answers[shownField] ?? [];
  const elements = majorsOf(form.elements);
  const hidden = new Set(form.hidden.map(({ identifier }) => keyOf(identifier)));
  const sent = [...Object.keys(answers), ...shown].filter((name) => isItem(name) && !isInformation(name));
  const names = sent.filter((name) => !hidden.has(keyOf(name)));
  if (!names.some((name) => elements.has(keyOf(name)))) return undefined;
  const informations = [form.info, ...form.peers.flatMap(({ info }) => info ?? [])];
  const majors = new Map([...elements, ...majorsOf(informations)]);
  const seen = [...(answers[infoField] ?? []), ...shown].filter(isInformation);
  // If an owner has another information now, the key of the former one is unknown: stale, too.
  const stale = [...names, ...seen].filter((name) => majors.get(keyOf(name)) !== majorOf(name));
  return { ...keepAnswers({ outcome: 'stale', stale }, answers, form), kept: stale.length === 0 };
}

function majorsOf(items: readonly { identifier: string }[]): Map<string, string | undefined> {
  return new Map(items.map(({ identifier }) => [keyOf(identifier), majorOf(identifier)]));
}

/** `element/<type>/<key>/<major>.<minor>` → major. */
function majorOf(identifier: string): string | undefined {
  return /\/(\d+)\.\d+$/.exec(identifier)?.[1];
}
