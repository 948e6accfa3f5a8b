import type { ConfirmPage, FinalPage, PageModel } from '#lib/contracts/pages.ts';

type Base = Pick<ConfirmPage, 'language' | 'instance' | 'theme' | 'embedding'>;

/** The page that asks for a code, just after an e-mail was sent. @param more overrides anything. */
function sampleConfirm(
  base: Base,
  link: (path: string) => string,
  more: Partial<ConfirmPage> = {},
): ConfirmPage {
  return {
    ...base,
    page: 'confirm',
    type: 'EMAIL_CODE',
    destination: 'a…@example.org',
    code: null,
    expires: '2025-05-03T12:12:00Z',
    isExpired: false,
    triesLeft: 5,
    codesLeft: 2,
    resendIn: 30,
    fault: null,
    isResent: false,
    actions: { confirm: link('/confirm'), resend: link('/confirm/resend'), cancel: link('/cancel') },
    ...more,
  };
}

/** Every state of the page that asks for a code, and the page after too many wrong codes. */
export function sampleConfirmPages(
  base: Base,
  link: (path: string) => string,
  rolledback: FinalPage,
): Record<string, PageModel> {
  const confirm = (more: Partial<ConfirmPage> = {}) => sampleConfirm(base, link, more);
  const { actions } = confirm();
  const sms = { type: 'SMS_CODE', destination: '…4567' } as const;
  const shown = { type: 'FORM_CODE', destination: null, code: '048213' } as const;
  return {
    confirm: confirm(),
    'confirm-sms': confirm({ ...sms, resendIn: 0, actions: { ...actions, cancel: null } }),
    'confirm-shown': confirm({ ...shown, resendIn: 0 }),
    'confirm-shown-wrong': confirm({ ...shown, resendIn: 0, fault: 'wrong', triesLeft: 2 }),
    'confirm-malformed': confirm({ fault: 'malformed', resendIn: 2 }),
    'confirm-wrong': confirm({ fault: 'wrong', triesLeft: 1, resendIn: 0, codesLeft: 1 }),
    'confirm-early': confirm({ ...sms, fault: 'early', resendIn: 11 }),
    'confirm-limit': confirm({ fault: 'limit', resendIn: 0 }),
    'confirm-resent': confirm({ isResent: true, codesLeft: 1 }),
    'confirm-last': confirm({ codesLeft: 0, resendIn: 0, actions: { ...actions, resend: null } }),
    'confirm-expired': confirm({ ...sms, isExpired: true, fault: 'expired', resendIn: 0 }),
    'confirm-exhausted': confirm({ triesLeft: 0, fault: 'exhausted', resendIn: 0, codesLeft: 1 }),
    'confirm-over': confirm({
      isExpired: true,
      codesLeft: 0,
      resendIn: 0,
      actions: { ...actions, resend: null },
    }),
    'rolledback-codes': { ...rolledback, reason: 'codes' },
  };
}
