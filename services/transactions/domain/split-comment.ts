import { fail } from '#lib/errors/fail.ts';
import { readBoundedText } from '#lib/text/nfc.ts';

/** Code points, as many as a free text may have. */
const maxLength = 4_000;

/**
 * Takes the one extra key of an answers map apart (decisions.md §4, "Answers"): `comment`, a text or a list of one.
 * @throws Failure `invalid-answer` for one that is too long.
 */
export function splitComment(body: Record<string, unknown>): {
  answers: Record<string, string[]>;
  comment: string | null;
} {
  const { comment, ...answers } = body;
  const given = [comment].flat();
  const text =
    typeof given[0] === 'string' ? readBoundedText(given[0].replaceAll('\r\n', '\n'), maxLength) : '';
  if (given.length > 1 || text === undefined)
    throw fail('invalid-answer', 'The comment is not valid.', {
      errors: [
        { pointer: '/comment', code: 'too-long', detail: 'must be one text of at most 4,000 characters' },
      ],
    });
  return {
    answers: Object.assign(Object.create(null), answers) as Record<string, string[]>,
    comment: text === '' ? null : text,
  };
}
