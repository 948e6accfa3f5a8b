import type { SubmitDependencies } from '../commands/submit-answers.ts';
import { linksOf, withToken } from '../domain/links.ts';
import type { Dependencies } from './dependencies.ts';

/** What a submission works with; the receipt's link carries a token of use `receipt` (decisions.md §7 and §14). */
export function submitDependencies({
  db,
  forms,
  instance,
  signReceipt,
  digests,
  tokens,
  expiryNoticeMs,
  wake,
}: Dependencies): SubmitDependencies {
  return {
    db,
    forms,
    instance,
    signReceipt,
    digests,
    expiryNoticeMs,
    wake,
    updateUrl({ id, tokenEpoch }, until) {
      const token = tokens.mint({ id, use: 'receipt', epoch: tokenEpoch }, until);
      return withToken(linksOf(instance.baseUrl, id).child, token);
    },
  };
}
