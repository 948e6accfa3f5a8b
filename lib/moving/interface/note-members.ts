import { leaveOut, type NotCarried } from '#lib/moving/receipt-rows.ts';

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
