import type { ModelPlace } from '#lib/contracts/exported-models.ts';
import { fail } from '#lib/errors/fail.ts';
import { modelTypes } from '#lib/evidence/signed-page.ts';

/** Writes the last model of a page as an opaque cursor. */
export function writeModelPlace({ type, key }: ModelPlace): string {
  return Buffer.from(JSON.stringify([type, key])).toString('base64url');
}

/** @throws Failure `malformed` */
export function readModelPlace(cursor: string): ModelPlace {
  try {
    const [type, key, ...more]: unknown[] = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const known = modelTypes.find((each) => each === type);
    if (known && typeof key === 'string' && /^[0-9A-Za-z_.-]{2,255}$/.test(key) && more.length === 0)
      return { type: known, key };
  } catch {
    // Not a cursor: rejected below.
  }
  throw fail('malformed', 'The cursor is not valid; use that of the previous page.');
}
