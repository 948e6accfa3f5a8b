import type { SubmitDependencies } from '../commands/submit-answers.ts';
import { linksOf, withToken } from '../domain/transaction-token.ts';
import type { Dependencies } from './handlers.ts';

/** What a submission works with; the receipt's link carries a token of use `receipt` (docs/interface.md, "Credentials" and docs/interface.md, "Receipts"). */
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
