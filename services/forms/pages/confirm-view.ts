import type { ConfirmPage } from '#lib/contracts/pages.ts';
import type { Reader } from '#lib/pages/reader.ts';

/** The page on which the subject enters a confirmation code. */
export function confirmView(page: ConfirmPage, reader: Reader) {
  const { isResent, actions, transaction } = page;
  const { type, code, destination, triesLeft, codesLeft, expires } = page.code;
  const end = endOf(page);
  const isOver = end !== null && codesLeft === 0;
  const fault = faultView(page, end, reader);
  const isFieldFaulty = end === null && ['malformed', 'wrong', 'superseded'].includes(page.fault ?? '');
  return {
    title: reader.t(isOver ? 'confirm.over.title' : 'confirm.title'),
    fault,
    resent: isResent ? reader.t(`confirm.resent.${type}`) : null,
    /** The sentence about the destination, before and after the address; null if the page shows the code. */
    sent: destination === undefined ? null : sentTexts(page, reader),
    destination,
    /** In two groups, which are easier to compare and to type; the field accepts the space. */
    code: end === null && code ? code.replace(/^(\d{3})(\d{3})$/, '$1 $2') : null,
    /** Null if the code can no longer be entered. */
    field:
      end === null
        ? {
            facts: [
              reader.t('confirm.tries', { count: triesLeft }),
              reader.t('confirm.expires', { date: reader.dateTime(expires) }),
            ].join(' '),
            error: isFieldFaulty && fault ? fault.title : null,
            describedBy: [isFieldFaulty && 'code-error', 'code-hint', 'code-facts'].filter(Boolean).join(' '),
          }
        : null,
    over: end === null ? [] : overTexts(page, end, reader),
    resend: {
      title: reader.t(`confirm.missing.${type}`),
      texts: isOver ? [] : resendTexts(page, end, reader),
      button: reader.t(`confirm.resend.${type}`),
    },
    actions: {
      confirm: transaction.links?.confirm,
      resend: codesLeft > 0 ? actions.resend : null,
      cancel: transaction.cancellable ? actions.cancel : null,
    },
  };
}

/** Why the code can no longer be entered; null if it can. */
function endOf({ code, now }: ConfirmPage): 'expired' | 'exhausted' | null {
  if (code.triesLeft <= 0) return 'exhausted';
  return Date.parse(code.expires) <= Date.parse(now) ? 'expired' : null;
}

const placeholder = '{destination}';

/** The template inserts the address as an element of its own, which is always from left to right. */
function sentTexts({ code: { type } }: ConfirmPage, reader: Reader) {
  const [before = '', after = ''] = reader
    .t(`confirm.sent.${type}`, { destination: placeholder })
    .split(placeholder);
  return { before, after };
}

function overTexts({ code }: ConfirmPage, end: 'expired' | 'exhausted', reader: Reader): string[] {
  return [
    reader.t(`confirm.over.${end}`, { date: reader.dateTime(code.expires) }),
    reader.t(code.codesLeft === 0 ? 'confirm.over.final' : 'confirm.over.another'),
  ];
}

/** Advice for a code that has not arrived, and when or how often another one can be requested. */
function resendTexts(page: ConfirmPage, end: 'expired' | 'exhausted' | null, reader: Reader): string[] {
  const { type, codesLeft } = page.code;
  return [
    ...(type === 'FORM_CODE' || end !== null ? [] : [reader.t(`confirm.advice.${type}`)]),
    codesLeft === 0
      ? reader.t('confirm.noneLeft')
      : (waitText(page, reader) ?? reader.t('confirm.codesLeft', { count: codesLeft })),
  ];
}

/** When another code can be requested; null if it can be now. */
function waitText({ code, now }: ConfirmPage, reader: Reader): string | null {
  const seconds = Math.ceil((Date.parse(code.resendAfter) - Date.parse(now)) / 1000);
  if (seconds >= 120) return reader.t('confirm.waitMinutes', { minutes: Math.ceil(seconds / 60) });
  return seconds > 0 ? reader.t('confirm.wait', { seconds }) : null;
}

/** The summary above the page: what is wrong, and a link to the control that helps. */
function faultView(page: ConfirmPage, end: 'expired' | 'exhausted' | null, reader: Reader) {
  const { fault, code } = page;
  if (fault === null) return null;
  const title = reader.t(`confirm.fault.${fault}`);
  if (fault === 'early')
    return { title, text: waitText(page, reader) ?? reader.t('confirm.remedy.now'), href: null };
  if (fault === 'limit') return { title, text: reader.t('confirm.remedy.limit'), href: null };
  if (end !== null || fault === 'expired' || fault === 'exhausted')
    return code.codesLeft === 0
      ? { title, text: reader.t('confirm.noneLeft'), href: null }
      : { title, text: reader.t(`confirm.resend.${code.type}`), href: '#resend' };
  return { title, text: reader.t(`confirm.remedy.${fault}`), href: '#code' };
}
