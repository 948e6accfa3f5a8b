import { sampleContent } from '../samples/forms-models.ts';
import type { Caller } from './callers.ts';
import { makeLiveModel } from './live-models.ts';

/** Has an admin make questions whose receipt would fill hundreds of pages. @returns an answer to each. */
export async function makeEndlessQuestions(admin: Caller): Promise<Record<string, string[]>> {
  const text = '<p>We keep what you tell us.</p>'.repeat(600);
  const en = { ...sampleContent.processing, usage: text, data: text };
  const answers: Record<string, string[]> = {};
  for (let index = 0; index < 21; index += 1) {
    const { key } = await makeLiveModel(admin, 'processing', { en });
    answers[`element/processing/${key}/1.0`] = ['accepted'];
  }
  return answers;
}
