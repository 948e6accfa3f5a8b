import { fail } from '#lib/errors/fail.ts';
import { readBoundedText } from '#lib/text/nfc.ts';

/** Code points, as many as a free text may have. */
const maxLength = 4_000;

/**
 * Reads an answers map (openapi.yaml, Answers): a single text becomes a list of one, and `comment`, the one key that names no element,
 * is taken out.
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
    answers: listAnswers(answers),
    comment: text === '' ? null : text,
  };
}

/** A single text is a list of one. @returns a map without a prototype: any name may be one of its keys. */
function listAnswers(given: Record<string, unknown>): Record<string, string[]> {
  const answers: Record<string, string[]> = Object.create(null);
  for (const [name, value] of Object.entries(given))
    answers[name] = typeof value === 'string' ? [value] : (value as string[]);
  return answers;
}
