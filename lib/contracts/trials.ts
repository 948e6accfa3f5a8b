/**
 * The beginning of the names of those who try a form (docs/interface.md). What they answer is kept and told
 * to webhooks as any answer, so that the whole way is tried; its pages say so, and it counts nowhere.
 */
export const trialPrefix = 'trial/';

export function isTrial(subject: string): boolean {
  return subject.startsWith(trialPrefix);
}
