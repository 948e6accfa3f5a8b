/**
 * Prefix of the subjects of trials (docs/interface.md). Their answers are stored and sent to webhooks as all
 * others, so that the whole way is tried. Their pages say that it is a trial, and no statistics count them.
 */
export const trialPrefix = 'trial/';

export function isTrial(subject: string): boolean {
  return subject.startsWith(trialPrefix);
}
