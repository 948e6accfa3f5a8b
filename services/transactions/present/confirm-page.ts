import type { PageBase } from '#lib/contracts/page-base.ts';
import type { ConfirmPage } from '#lib/contracts/pages.ts';
import { type CodeType, codeStatus } from '../answer/code.ts';
import type { AwaitedCode } from '../answer/confirm-code.ts';
import { codeDestination } from '../transaction/destination.ts';
import type { Links } from '../transaction/links.ts';
import { embeddingOf } from './page-parts.ts';

interface Shown
  extends Pick<ConfirmPage, 'code' | 'fault' | 'isResent'>,
    Pick<PageBase, 'language' | 'instance' | 'theme' | 'asker'> {
  links: Links;
  /** CODE_RESEND_AFTER in seconds. */
  resendAfter: number;
}

/** The page on which a subject enters a code. */
export function confirmPage({ read, code }: AwaitedCode, shown: Shown): ConfirmPage {
  const { links, resendAfter: resendSeconds, ...page } = shown;
  const { transaction, now } = read;
  const { context } = transaction;
  const { expires, triesLeft, codesLeft, resendAfter } = codeStatus(code, resendSeconds);
  return {
    page: 'confirm',
    ...page,
    embedding: embeddingOf(read),
    type: context.confirmation as CodeType,
    destination: codeDestination(context)?.masked ?? null,
    expires: expires.toISOString(),
    isExpired: expires <= now,
    triesLeft,
    codesLeft,
    resendIn: Math.max(0, Math.ceil((resendAfter.getTime() - now.getTime()) / 1000)),
    actions: {
      confirm: links.confirm,
      resend: codesLeft > 0 ? links.resend : null,
      cancel: context.cancellable ? links.cancel : null,
    },
  };
}
