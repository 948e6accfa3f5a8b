/** Takes the one extra key of an answers map apart (decisions.md §4, "Answers"): `comment`, a text or a list of one. */
export function splitComment(body: Record<string, unknown>): {
  answers: Record<string, string[]>;
  comment: string | null;
} {
  const { comment, ...answers } = body;
  const text = [comment].flat()[0];
  return {
    answers: Object.assign(Object.create(null), answers) as Record<string, string[]>,
    comment: typeof text === 'string' && text.trim() !== '' ? text : null,
  };
}
