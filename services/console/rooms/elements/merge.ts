import type { PostedForm } from '../../pages/form.ts';

/** An input that two people changed differently. */
export interface Conflict {
  name: string;
  /** The value that the other person has saved. */
  theirs: readonly string[];
}

/**
 * Puts together what two people did to one draft. A change of one person is taken; where both changed the
 * same input differently, the value that was typed stays and the conflict is told.
 * @param base the values with which the editor was opened.
 */
export function mergeValues(
  base: PostedForm,
  typed: PostedForm,
  theirs: PostedForm,
): { values: PostedForm; conflicts: Conflict[] } {
  const values: Record<string, readonly string[]> = { ...typed };
  const conflicts: Conflict[] = [];
  for (const name of new Set([...Object.keys(base), ...Object.keys(theirs)])) {
    const saved = theirs[name] ?? [];
    if (isSame(saved, base[name]) || isSame(saved, typed[name])) continue;
    if (isSame(typed[name], base[name])) values[name] = saved;
    else conflicts.push({ name, theirs: saved });
  }
  return { values, conflicts };
}

/** Languages of the merged draft: those of both people, without those that one of them has removed. */
export function mergeLanguages(
  base: readonly string[],
  typed: readonly string[],
  theirs: readonly string[],
): string[] {
  const kept = typed.filter((each) => theirs.includes(each) || !base.includes(each));
  const added = theirs.filter((each) => !base.includes(each) && !typed.includes(each));
  return kept.length + added.length > 0 ? [...kept, ...added] : [...typed];
}

/** No value, and an empty one, are the same: inputs send both. */
function isSame(one: readonly string[] = [], other: readonly string[] = []): boolean {
  const given = (values: readonly string[]) => JSON.stringify(values.filter((each) => each !== ''));
  return given(one) === given(other);
}
