import type { ConfirmPage } from '#lib/contracts/pages.ts';
import type { Drawn, PageModel } from '../../../services/forms/pages/page-model.ts';

type Confirm = Drawn<ConfirmPage>;
type Base = Pick<Confirm, 'language' | 'instance' | 'theme' | 'transaction' | 'layout' | 'information'>;
type Code = ConfirmPage['code'];
type More = Partial<Code> & Partial<Pick<ConfirmPage, 'fault' | 'isResent'>> & { isCancellable?: boolean };

const now = '2025-05-03T12:02:00Z';
/** The time some seconds after {@link now}. */
export const codeTime = (seconds: number) => new Date(Date.parse(now) + seconds * 1000).toISOString();

/** The page that asks for a code, just after an e-mail was sent. @param more overrides anything. */
function sampleConfirm(
  base: Base,
  link: (path: string) => string,
  { fault = null, isResent = false, isCancellable = true, ...more }: More = {},
): Confirm {
  return {
    ...base,
    transaction: { ...base.transaction, cancellable: isCancellable },
    page: 'confirm',
    code: {
      type: 'EMAIL_CODE',
      destination: 'a…@example.org',
      expires: codeTime(600),
      triesLeft: 5,
      codesLeft: 2,
      resendAfter: codeTime(30),
      ...more,
    },
    now,
    fault,
    isResent,
    actions: { resend: link('/confirm/resend'), cancel: link('/cancel') },
  };
}

/** Every state of the page that asks for a code. */
export function sampleConfirmPages(base: Base, link: (path: string) => string): Record<string, PageModel> {
  const confirm = (more: More = {}) => sampleConfirm(base, link, more);
  const sms = { type: 'SMS_CODE', destination: '…4567' } as const;
  const shown = { type: 'FORM_CODE', destination: undefined, code: '048213' } as const;
  const isOver = { expires: codeTime(-1) };
  const resendAfter = now;
  return {
    confirm: confirm(),
    'confirm-sms': confirm({ ...sms, resendAfter, isCancellable: false }),
    'confirm-shown': confirm({ ...shown, resendAfter }),
    'confirm-shown-wrong': confirm({ ...shown, resendAfter, fault: 'wrong', triesLeft: 2 }),
    'confirm-malformed': confirm({ fault: 'malformed', resendAfter: codeTime(2) }),
    'confirm-wrong': confirm({ fault: 'wrong', triesLeft: 1, resendAfter, codesLeft: 1 }),
    'confirm-early': confirm({ ...sms, fault: 'early', resendAfter: codeTime(11) }),
    'confirm-limit': confirm({ fault: 'limit', resendAfter }),
    'confirm-resent': confirm({ isResent: true, codesLeft: 1 }),
    'confirm-last': confirm({ codesLeft: 0, resendAfter }),
    'confirm-expired': confirm({ ...sms, ...isOver, fault: 'expired', resendAfter }),
    'confirm-exhausted': confirm({ triesLeft: 0, fault: 'exhausted', resendAfter, codesLeft: 1 }),
    'confirm-over': confirm({ ...isOver, codesLeft: 0, resendAfter }),
  };
}
