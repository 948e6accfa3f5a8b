import type { Fault } from '#lib/errors/fail.ts';
import { escapePointer } from '#lib/json/pointer.ts';

/** Is read as `refusable`, or is the default. */
const readOtherwise = ['choice'];

/**
 * Members that were given and are not stored, because no content of this type has them: in a file they are
 * spelling mistakes.
 * @param read the content as it would be stored. @param at JSON pointer of the content.
 */
export function unknownMembers(given: unknown, read: unknown, at: string): Fault[] {
  if (!isObject(given) || !isObject(read)) return [];
  return Object.entries(given).flatMap(([name, value]) => {
    if (isEmpty(value) || readOtherwise.includes(name)) return [];
    const pointer = `${at}/${escapePointer(name)}`;
    if (Object.hasOwn(read, name)) return unknownMembers(value, read[name], pointer);
    return [{ pointer, code: 'unknown-member', detail: 'is not a member of this type, or has no text' }];
  });
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isEmpty(value: unknown): boolean {
  return (
    value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0)
  );
}
