import { isPrivileged, type Principal } from '#lib/auth/principal.ts';
import { fail } from '#lib/errors/fail.ts';
import type { ConsentContext } from '../domain/context.ts';
import { parseContext } from '../domain/parse-context.ts';

/**
 * Reads a ConsentContext for a caller. A plain user may create for themselves alone, and not in another's name (decisions.md §15).
 * @throws Failure `forbidden`, `layout-conflict`, `not-available`, `invalid`; with a pointer for each fault.
 */
export function readContext(body: Record<string, unknown>, principal: Principal): ConsentContext {
  const parsed = parseContext(body);
  if ('faults' in parsed) {
    if (parsed.unavailable)
      throw fail('not-available', 'This needs something that is not available on this instance yet.', {
        errors: parsed.faults,
      });
    const layoutsOnly = parsed.faults.every(({ code }) => code === 'layout-conflict');
    throw fail(layoutsOnly ? 'layout-conflict' : 'invalid', 'The context is not valid.', {
      errors: parsed.faults,
    });
  }
  const { context } = parsed;
  if (!isPrivileged(principal)) {
    if (context.subject !== principal.subject)
      throw fail('forbidden', 'You may create a transaction for yourself alone.');
    if (context.author !== undefined) throw fail('forbidden', 'Only an operator may set the author.');
    if (context.origin !== 'USER' && context.origin !== 'WEBFORM')
      throw fail('forbidden', 'You may use the origins USER and WEBFORM alone.');
  }
  return context;
}
