/** What is left out of an import, and how often. */
export type NotCarried = Map<string, number>;

/** Counts something that is left out. */
export function leaveOut(notCarried: NotCarried, what: string): void {
  notCarried.set(what, (notCarried.get(what) ?? 0) + 1);
}

/** Counts the members of a resource that an import does not take, by name. */
export function noteMembers(
  notCarried: NotCarried,
  resource: string,
  value: object,
  carried: readonly string[],
): void {
  for (const name of Object.keys(value))
    if (!carried.includes(name)) leaveOut(notCarried, `${resource}.${name}`);
}
