import { fail } from '#lib/errors/fail.ts';

/** The entity tag of a revision (RFC 9110 §8.8.3). */
export function entityTag(revision: number): string {
  return `"${revision}"`;
}

/**
 * If-Match (RFC 9110 §13.1.1): optional here. Compared strongly, so a weak tag never matches.
 * @throws Failure `precondition-failed`.
 */
export function checkPrecondition(ifMatch: string | undefined, revision: number): void {
  if (ifMatch === undefined || ifMatch.trim() === '*') return;
  const tags = ifMatch.split(',').map((tag) => tag.trim());
  if (!tags.includes(entityTag(revision)))
    throw fail(
      'precondition-failed',
      'It has been changed since you read it: read it again, then repeat your change.',
    );
}
