/** What the flows with TypeScript clients share. */
const { ACCORD_URL, ACCORD_TOKEN, ACCORD_SUBJECT, ACCORD_EVENT } = process.env;
if (!ACCORD_URL || !ACCORD_TOKEN || !ACCORD_SUBJECT || !ACCORD_EVENT)
  throw new Error('run.ts sets the environment');

export const url = ACCORD_URL;
export const token = ACCORD_TOKEN;
export const subject = ACCORD_SUBJECT;

/** The body of a request to a webhook. */
export const event = () => JSON.parse(ACCORD_EVENT);

/** A question as every client types it. */
interface Element {
  identifier: string;
  content: { title?: string | null; label?: string | null };
  answers?: string[] | null;
}

export function step(name: string): void {
  console.log('step', name);
}

export function require(isTrue: unknown, seen: unknown): asserts isTrue {
  if (!isTrue) throw new Error(JSON.stringify(seen));
}

/** Answers each question by its first answer. */
export function answersTo(elements: Element[]): Record<string, string[]> {
  return Object.fromEntries(
    elements.map(({ identifier, content, answers }) => {
      require(content.title ?? content.label, content);
      return [identifier, [answers?.[0] ?? '']];
    }),
  );
}
