import { isPrivileged, type Principal } from '#lib/contracts/principal.ts';
import { fail } from '#lib/errors/fail.ts';
import { type ConsentContext, origins } from '../domain/context.ts';
import { gatherFields } from '../domain/gather-fields.ts';
import { parseContext } from '../domain/parse-context.ts';
import { normaliseText } from '../domain/parse-values.ts';

/**
 * Reads a ConsentContext for a caller. A plain user may create for themselves alone, and not in another's name: that is
 * looked at before the rest of the content (docs/interface.md).
 * @throws Failure `forbidden`, `layout-conflict`, `not-available`, `invalid`; with a pointer for each fault.
 */
export function readContext(body: Record<string, unknown>, principal: Principal): ConsentContext {
  if (!isPrivileged(principal)) requireOwnContext(body, principal);
  const parsed = parseContext(body);
  if (!('faults' in parsed)) return parsed.context;
  if (parsed.unavailable)
    throw fail('not-available', 'This needs something that is not available on this instance yet.', {
      errors: parsed.faults,
    });
  const layoutsOnly = parsed.faults.every(({ code }) => code === 'layout-conflict');
  throw fail(layoutsOnly ? 'layout-conflict' : 'invalid', 'The context is not valid.', {
    errors: parsed.faults,
  });
}

/** What only operators may say. */
const operatorOrigins: readonly unknown[] = origins.filter(
  (origin) => origin !== 'USER' && origin !== 'WEBFORM',
);

function requireOwnContext(body: Record<string, unknown>, principal: Principal): void {
  const { fields } = gatherFields(body);
  const subject = fields.get('subject')?.value;
  if (subject !== undefined && normaliseText(String(subject)) !== principal.subject)
    throw fail('forbidden', 'You may create a transaction for yourself alone.');
  if (fields.has('author')) throw fail('forbidden', 'Only an operator may set the author.');
  if (operatorOrigins.includes(fields.get('origin')?.value))
    throw fail('forbidden', 'You may use the origins USER and WEBFORM alone.');
}
