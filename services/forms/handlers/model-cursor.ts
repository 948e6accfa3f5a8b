import { fail } from '#lib/errors/fail.ts';
import { isTimestamp, uuidPattern } from '#lib/http/lists.ts';
import { isStorable } from '#lib/json/check-json.ts';
import type { ModelOrder, ModelPosition } from '../domain/model.ts';

/** Writes a position as an opaque cursor, which is valid for this order only. */
export function writeModelCursor(order: ModelOrder, { value, id }: ModelPosition): string {
  return Buffer.from(JSON.stringify([order, value, id])).toString('base64url');
}

/** Reads a cursor. @throws Failure `malformed` also for the cursor of another order. */
export function readModelCursor(cursor: unknown, order: ModelOrder): ModelPosition | undefined {
  if (cursor === undefined) return undefined;
  try {
    const [given, value, id, ...rest] = JSON.parse(
      Buffer.from(String(cursor), 'base64url').toString(),
    ) as unknown[];
    const isPosition =
      given === order && typeof value === 'string' && typeof id === 'string' && rest.length === 0;
    const isValue =
      isPosition && isStorable([value]) && (order !== '-modificationDate' || isTimestamp(value));
    if (isValue && uuidPattern.test(id)) return { value, id };
  } catch {
    // Not a cursor: rejected below.
  }
  throw fail('malformed', 'The cursor is not valid; use the one of the previous page, with the same sort.');
}
