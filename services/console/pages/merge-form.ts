import { fail } from '#lib/errors/fail.ts';
import { ApiFailure } from '../api/api-failure.ts';
import type { ConsoleReader } from './console-reader.ts';
import type { FormView, PostedForm } from './form.ts';
import type { Conflict, Edited, MergeRules } from './merge.ts';

/** What the mixin `+merged` prints: that another person has saved, and where to choose. */
export interface MergedView {
  isMerged: boolean;
  conflicts: {
    /** Hidden input with the values of the other person. */
    name: string;
    values: readonly string[];
    label: string;
    text: string;
    /** Value of the button that takes them, and its name for readers of the screen. */
    op: string;
    act: string;
  }[];
  /** Sentences about languages that one has removed and the other has changed. */
  keptLanguages: string[];
}

/** Makes the view of a merge. @param form whose fields have the labels of the inputs. */
export function mergedView(
  reader: ConsoleReader,
  form: FormView,
  merged: {
    conflicts: readonly Conflict[];
    keptLanguages?: readonly string[];
    isMerged?: boolean;
    languageOf: MergeRules['languageOf'];
  },
): MergedView {
  const conflicts = merged.conflicts.map(({ name, theirs }) => {
    const field = form.byName[name];
    const label = labelIn(reader, field?.label ?? name, merged.languageOf(name));
    const words = theirs.map((each) => field?.options.find(({ value }) => value === each)?.label ?? each);
    return {
      name: `${prefix}${name}`,
      values: theirs,
      label,
      text: reader.list(words),
      op: `take:${name}`,
      act: `${reader.t('merge.take')}: ${label}`,
    };
  });
  const keptLanguages = (merged.keptLanguages ?? []).map((each) =>
    reader.t('merge.languageKept', { language: reader.languageName(each) }),
  );
  return { isMerged: merged.isMerged ?? false, conflicts, keptLanguages };
}

/** The label of a field, with its language if it has one. */
export function labelIn(
  { languageName }: ConsoleReader,
  label: string,
  language: string | undefined,
): string {
  return language ? `${label} (${languageName(language)})` : label;
}

/** The failure of an editor that shows an older state than the saved one. */
export function overtaken(): ApiFailure {
  return new ApiFailure(412, { type: '/docs/problems/precondition-failed' });
}

/** Whether another person has saved first: a change of the draft, or the draft itself. */
export function isOvertaken({ status, code }: ApiFailure): boolean {
  return status === 412 || code === 'exists';
}

const prefix = 'theirs:';

/** Conflicts that a page has shown, from its hidden inputs. */
export function conflictsIn(posted: PostedForm): Conflict[] {
  return Object.entries(posted).flatMap(([name, theirs]) =>
    name.startsWith(prefix) ? { name: name.slice(prefix.length), theirs } : [],
  );
}

/**
 * Carries out a button `take:<input>` of a page with conflicts: takes the value of the other person.
 * @returns undefined for other buttons.
 */
export function takeTheirs(
  posted: PostedForm,
  op: string,
): { values: PostedForm; conflicts: Conflict[] } | undefined {
  if (!op.startsWith('take:')) return undefined;
  const shown = conflictsIn(posted);
  const taken = shown.find(({ name }) => `take:${name}` === op);
  const values = taken ? { ...posted, [taken.name]: taken.theirs } : posted;
  return { values, conflicts: shown.filter((each) => each !== taken) };
}

/** A little more than the API takes, which says what is too many: 50 languages; 100 elements, 50 options. */
const [mostLanguages, mostValues] = [60, 120];

/**
 * Counts the languages and values of an editor that was sent, because to compare and show them takes the
 * product of their numbers. @throws Failure `malformed` for more than any draft has.
 */
export function boundEdit({ languages, values }: Edited): void {
  if (languages.length > mostLanguages || Object.values(values).some(({ length }) => length > mostValues))
    throw fail(
      'malformed',
      `A draft has at most ${mostLanguages} languages and lists of ${mostValues} items.`,
    );
}

/** What the editor was opened with, from the hidden input `base`; nothing in a form that is not ours. */
export function baseOf(posted: PostedForm): Edited {
  try {
    const base: unknown = JSON.parse(posted.base?.[0] ?? '');
    if (isEdited(base)) return base;
  } catch {
    // Without it every difference is a conflict, so nothing is lost.
  }
  return { languages: [], values: {} };
}

function isEdited(value: unknown): value is Edited {
  const { languages, values } = (value ?? {}) as { languages?: unknown; values?: unknown };
  const areTexts = (list: unknown) => Array.isArray(list) && list.every((each) => typeof each === 'string');
  return areTexts(languages) && typeof values === 'object' && Object.values(values ?? {}).every(areTexts);
}
