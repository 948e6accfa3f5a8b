import type { PostedForm } from './form.ts';
import { mergeLists } from './merge-lists.ts';

/** What an editor holds: languages, and inputs by name. */
export interface Edited {
  languages: readonly string[];
  values: PostedForm;
}

/** An input that two people changed differently. */
export interface Conflict {
  name: string;
  /** The value that the other person has saved. */
  theirs: readonly string[];
}

/** What the names of an editor's inputs mean. */
export interface MergeRules {
  /** The language of an input; undefined if it is for all languages. */
  languageOf(name: string): string | undefined;
  /** Inputs whose values are a list in an order. */
  lists?: readonly string[];
  /** Inputs whose values are in no order. */
  sets?: readonly string[];
  /** What inputs have in common that are one list: if both people changed any of them, they are conflicts. */
  groupOf?(name: string): string | undefined;
}

/** A draft with the changes of two people. */
export interface Merged extends Edited {
  conflicts: Conflict[];
  /** Languages that one has removed and the other has changed. They stay. */
  keptLanguages: string[];
}

/**
 * Merges the changes of two people to one draft. A change of one person is taken. Where both changed the same
 * input differently, the value that was typed stays and the conflict is returned.
 * @param sides what the editor was opened with, what was typed, and what is saved now.
 */
export function mergeEdits(sides: { base: Edited; mine: Edited; theirs: Edited }, rules: MergeRules): Merged {
  const { base } = sides;
  const keptLanguages = languagesToKeep(sides, rules);
  // The person who has removed a language that stays counts as one who has left it as it was.
  const [mine, theirs] = [sides.mine, sides.theirs].map((side) =>
    restore(side, { base, languages: keptLanguages, rules }),
  ) as [Edited, Edited];
  const values: Record<string, readonly string[]> = { ...mine.values };
  const conflicts: Conflict[] = [];
  const names = namesIn(base, mine, theirs);
  const [mineChanged, theirsChanged] = [mine, theirs].map(({ values: given }) => {
    const changed = names.filter((name) => !isSame(given[name], base.values[name]));
    return changed.flatMap((name) => rules.groupOf?.(name) ?? []);
  }) as [string[], string[]];
  const areChangedByBoth = (group = '') => mineChanged.includes(group) && theirsChanged.includes(group);
  for (const name of names) {
    const [before = [], typed = [], saved = []] = [base, mine, theirs].map((each) => each.values[name]);
    const isTorn = areChangedByBoth(rules.groupOf?.(name)) && !isSame(typed, saved);
    const merged = isTorn ? undefined : mergeInput(name, { before, typed, saved }, rules);
    if (merged) values[name] = merged;
    else conflicts.push({ name, theirs: saved });
  }
  const languages = mergeSets(base.languages, mine.languages, theirs.languages);
  return { languages, values, conflicts, keptLanguages };
}

/** @returns undefined if both have changed the input differently. */
function mergeInput(
  name: string,
  { before, typed, saved }: Record<'before' | 'typed' | 'saved', readonly string[]>,
  { lists = [], sets = [] }: MergeRules,
): readonly string[] | undefined {
  if (isSame(saved, before) || isSame(saved, typed)) return typed;
  if (isSame(typed, before)) return saved;
  if (sets.includes(name)) return mergeSets(before, typed, saved);
  return lists.includes(name) ? mergeLists(before, typed, saved) : undefined;
}

/** Values of both, without those that one of them has removed. */
function mergeSets(base: readonly string[], mine: readonly string[], theirs: readonly string[]): string[] {
  const stayed = mine.filter((each) => theirs.includes(each) || !base.includes(each));
  const added = theirs.filter((each) => !base.includes(each) && !mine.includes(each));
  return [...stayed, ...added];
}

/** Languages that one has removed and the other has changed; all removed ones if none would be left. */
function languagesToKeep(
  { base, mine, theirs }: { base: Edited; mine: Edited; theirs: Edited },
  rules: MergeRules,
): string[] {
  const removed = base.languages.filter(
    (each) => mine.languages.includes(each) !== theirs.languages.includes(each),
  );
  const changed = removed.filter((each) =>
    changesLanguage(base, mine.languages.includes(each) ? mine : theirs, { language: each, rules }),
  );
  const left = mergeSets(base.languages, mine.languages, theirs.languages);
  return left.length + changed.length > 0 ? changed : removed;
}

/** Whether a person has changed a text of a language, or has made it the default language. */
function changesLanguage(
  base: Edited,
  side: Edited,
  { language, rules }: { language: string; rules: MergeRules },
): boolean {
  const { defaultLanguage } = side.values;
  if (defaultLanguage?.[0] === language && !isSame(defaultLanguage, base.values.defaultLanguage)) return true;
  return namesIn(base, side).some(
    (name) => rules.languageOf(name) === language && !isSame(side.values[name], base.values[name]),
  );
}

/** Puts back languages that were removed, with the texts that they had. */
function restore(
  side: Edited,
  { base, languages, rules }: { base: Edited; languages: readonly string[]; rules: MergeRules },
): Edited {
  const missing = languages.filter((each) => !side.languages.includes(each));
  const texts = Object.entries(base.values).filter(([name]) =>
    missing.includes(rules.languageOf(name) ?? ''),
  );
  return {
    languages: [...side.languages, ...missing],
    values: { ...side.values, ...Object.fromEntries(texts) },
  };
}

function namesIn(...edited: readonly Edited[]): string[] {
  return [...new Set(edited.flatMap(({ values }) => Object.keys(values)))];
}

/** Whether two editors hold the same. */
export function isSameEdit(one: Edited, other: Edited): boolean {
  const languagesOf = ({ languages }: Edited) => [...languages].sort();
  return (
    isSame(languagesOf(one), languagesOf(other)) &&
    namesIn(one, other).every((name) => isSame(one.values[name], other.values[name]))
  );
}

/** No value, and an empty one, are the same: inputs send both. Between others an empty one is a place. */
function isSame(one: readonly string[] = [], other: readonly string[] = []): boolean {
  const given = (values: readonly string[]) =>
    JSON.stringify(values.slice(0, values.findLastIndex((each) => each !== '') + 1));
  return given(one) === given(other);
}
