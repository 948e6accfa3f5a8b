import { isLengthened } from '#lib/text/answer-validity.ts';

/** The content of a version by language. */
export type ContentByLanguage = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/** What people agreed to, beside the question itself. */
const agreedMembers = [
  'data',
  'usage',
  'retention',
  'thirdParties',
  'purposes',
  'legalBases',
  'validity',
] as const;

/**
 * The members of what people agreed to that a new version changes to their disadvantage, or that a program
 * cannot tell from such a change. A shorter validity or retention takes nothing from the people who agreed.
 * @returns empty: nothing that was agreed to has changed.
 */
export function changedTerms(before: ContentByLanguage, after: ContentByLanguage): string[] {
  const shared = Object.keys(before).filter((language) => Object.hasOwn(after, language));
  const pairs = shared.map((language) => [before[language], after[language]] as const);
  // Without a common language nobody has read the new version.
  const compared = pairs.length > 0 ? pairs : [[Object.values(before)[0], Object.values(after)[0]] as const];
  return agreedMembers.filter((member) =>
    compared.some(([old, now]) => isChanged(member, old?.[member], now?.[member])),
  );
}

/**
 * The type that a new version should have: MAJOR, which asks people again, if what they agreed to has
 * changed.
 * @param needsMajor whether a MINOR is not allowed at all.
 */
export function proposeType(
  before: ContentByLanguage,
  after: ContentByLanguage,
  needsMajor: boolean,
): 'MAJOR' | 'MINOR' {
  return needsMajor || changedTerms(before, after).length > 0 ? 'MAJOR' : 'MINOR';
}

function isChanged(member: (typeof agreedMembers)[number], before: unknown, after: unknown): boolean {
  if (member === 'validity') return isLengthened(before as string | undefined, after as string | undefined);
  if (member === 'retention')
    return isRetainedLonger((before ?? {}) as Retention, (after ?? {}) as Retention);
  return !isSame(before, after);
}

interface Retention {
  value?: number;
  unit?: string;
  label?: string;
  fullText?: string;
}

/** The fewest and the most days of a unit: whether a month is longer than 30 days depends on the month. */
const daysOf: Readonly<Record<string, readonly [number, number]>> = {
  DAY: [1, 1],
  WEEK: [7, 7],
  MONTH: [28, 31],
  YEAR: [365, 366],
};

/** Words alone do not tell whether data are kept longer: other words count as longer. */
function isRetainedLonger(before: Retention, after: Retention): boolean {
  if (isShorter(after, before)) return false;
  const wordsOf = ({ label, fullText }: Retention) => [label, fullText];
  return (
    before.value !== after.value || before.unit !== after.unit || !isSame(wordsOf(before), wordsOf(after))
  );
}

function isShorter(one: Retention, other: Retention): boolean {
  const [, most] = daysOf[one.unit ?? ''] ?? [];
  const [least] = daysOf[other.unit ?? ''] ?? [];
  if (one.value === undefined || other.value === undefined || !most || !least) return false;
  if (one.unit === other.unit) return one.value < other.value;
  return one.value * most < other.value * least;
}

/** Whether two values of JSON are equal; the order of members does not matter. */
export function isSame(one: unknown, other: unknown): boolean {
  if (typeof one !== 'object' || typeof other !== 'object' || one === null || other === null)
    return one === other;
  if (Array.isArray(one) !== Array.isArray(other)) return false;
  const [names, otherNames] = [one, other].map((each) => definedNames(each));
  return (
    names?.length === otherNames?.length &&
    (names ?? []).every((name) => isSame(Reflect.get(one, name), Reflect.get(other, name)))
  );
}

function definedNames(value: object): string[] {
  return Object.keys(value).filter((name) => Reflect.get(value, name) !== undefined);
}
