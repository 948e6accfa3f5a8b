/** What became of an attempt. */
export type Outcome =
  | { kind: 'delivered'; statusCode: number }
  /** The endpoint says that it is there no more (Standard Webhooks, "Responding"). */
  | { kind: 'gone'; statusCode: number; error: string }
  | { kind: 'failed'; statusCode: number | null; error: string };

/** Judges an answer by its status alone: any 2xx is a receipt, and what is in its body is nobody's business. */
export function judgeAnswer(statusCode: number): Outcome {
  if (statusCode >= 200 && statusCode < 300) return { kind: 'delivered', statusCode };
  if (statusCode === 410)
    return { kind: 'gone', statusCode, error: 'The endpoint answered 410: it is there no more.' };
  return { kind: 'failed', statusCode, error: `The endpoint answered ${statusCode}.` };
}
