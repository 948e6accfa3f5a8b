import type { VersionData } from './model.ts';

/** A member of a model that has two values. An empty text stands for no value. */
export interface Difference {
  member: string;
  /** Absent if the values are the same in all languages. */
  language?: string;
  before: string;
  after: string;
}

/** What differs between two contents, by member and language. */
export function compareContents(before: VersionData, after: VersionData): Difference[] {
  const [old, now] = [leavesByLanguage(before), leavesByLanguage(after)];
  const languages = [...new Set([...now.keys(), ...old.keys()])];
  const members = new Set([...now.values(), ...old.values()].flatMap((leaves) => [...leaves.keys()]));
  const found = [...members].flatMap((member) => {
    const each = languages.map((language) => ({
      member,
      language,
      before: old.get(language)?.get(member) ?? '',
      after: now.get(language)?.get(member) ?? '',
    }));
    const changed = each.filter((one) => one.before !== one.after);
    const [first] = changed;
    const isCommon = each.every((one) => one.before === first?.before && one.after === first.after);
    if (!first || !isCommon || languages.length < 2) return changed;
    return [{ member, before: first.before, after: first.after }];
  });
  const named = (data: VersionData) => Object.keys(data).toSorted().join(', ');
  return [...differenceOf('languages', named(before), named(after)), ...found];
}

/** @returns an empty list if both are the same. */
export function differenceOf(member: string, before: unknown, after: unknown): Difference[] {
  const [old, now] = [textOf(before), textOf(after)];
  return old === now ? [] : [{ member, before: old, after: now }];
}

function leavesByLanguage(data: VersionData): Map<string, Map<string, string>> {
  return new Map(
    Object.entries(data).map(([language, content]) => [language, new Map(leavesOf(content, ''))]),
  );
}

/** The values of a content by path, such as `retention.label`; a list is one value. */
function leavesOf(content: object, prefix: string): [string, string][] {
  return Object.entries(content).flatMap(([name, value]): [string, string][] => {
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return leavesOf(value, `${prefix}${name}.`);
    return [[prefix + name, textOf(value)]];
  });
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return value;
  if (!Array.isArray(value)) return JSON.stringify(value);
  // An empty list is a statement of its own.
  return value.length === 0 ? '[]' : value.map(itemText).join('\n');
}

function itemText(item: unknown): string {
  return typeof item === 'object' && item !== null
    ? Object.values(item).map(String).join(': ')
    : String(item);
}
