import { fail } from '#lib/errors/fail.ts';

const maxDepth = 16;

/** @throws Failure `malformed` if a text cannot be stored as it was written. */
export function checkText(text: string, pointer: string): void {
  if (!text.isWellFormed()) throw malformedAt(pointer, 'has a lone surrogate');
  if (text.includes('\0')) throw malformedAt(pointer, 'has a NUL character');
}

/** Whether {@link checkJson} takes it. */
export function isStorable(value: unknown): boolean {
  try {
    checkJson(value);
    return true;
  } catch {
    return false;
  }
}

/**
 * At most 16 levels deep, no prototype keys, no lone surrogates and no NUL (PostgreSQL's jsonb stores neither).
 * @throws Failure `malformed`.
 */
export function checkJson(value: unknown, pointer = '', depth = 0): void {
  if (typeof value === 'string') checkText(value, pointer);
  if (typeof value !== 'object' || value === null) return;
  if (depth >= maxDepth) throw malformedAt(pointer, `is nested more than ${maxDepth} levels deep`);
  for (const [key, member] of Object.entries(value)) {
    const at = `${pointer}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    if (key === '__proto__' || key === 'constructor' || key === 'prototype')
      throw malformedAt(at, 'has a name that is not allowed');
    if (!Array.isArray(value)) checkText(key, at);
    checkJson(member, at, depth + 1);
  }
}

function malformedAt(pointer: string, what: string) {
  const shown = pointer.toWellFormed().replaceAll('\0', '');
  return fail('malformed', `The request ${what}.`, {
    errors: [{ pointer: shown.slice(0, 500), code: 'malformed', detail: `The value ${what}.` }],
  });
}
