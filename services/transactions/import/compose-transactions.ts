import { readCompactJws } from '#lib/jose/jws.ts';
import { latestExpiry } from '#lib/text/answer-validity.ts';
import { firstNotice } from '../standing/status.ts';
import { contextDefaults } from '../transaction/context.ts';
import type { TakenOver } from './decide-rows.ts';

/** Answers that were given together. */
export interface ImportedTransaction {
  id: string;
  subject: string;
  context: object;
  layout: object;
  validUntil: Date | null;
  /** As of `firstNotice`. */
  noticeAt: string;
  evidence: {
    kind: string;
    value: string;
    verified: boolean;
    /** The key that has signed a verified receipt. */
    kid: string | null;
  } | null;
}

/** The transactions of records that are taken over: one for all that was given together. */
export function composeTransactions(
  records: readonly TakenOver[],
  { now, leadMs }: { now: Date; leadMs: number },
): ImportedTransaction[] {
  const groups = Map.groupBy(records, ({ transaction }) => transaction);
  return [...groups].map(([id, group]) => {
    const { subject, object, givenAt, infoKey, evidence, isVerified } = group[0] as TakenOver;
    const elements = [...new Set(group.map(({ key }) => key))];
    const expiries = group.map(({ expiresAt }) => expiresAt);
    const open = expiries.filter((each) => each !== null && each > now);
    return {
      id,
      subject,
      context: {
        ...contextDefaults,
        subject,
        ...(object !== '' && { object }),
        layoutData: { type: 'layout', info: infoKey, elements },
        origin: 'IMPORTED',
        updatable: false,
      },
      layout: {
        info: infoKey,
        elements,
        orientation: 'VERTICAL',
        existingElementsVisible: true,
        validityVisible: false,
        acceptAllVisible: false,
        cancelVisible: false,
        footerOnTop: false,
        includeIFrameResizer: false,
        texts: {},
      },
      validUntil: latestExpiry(expiries),
      noticeAt: firstNotice({ committedAt: givenAt, expiries: open }, leadMs),
      evidence: evidence && {
        ...evidence,
        verified: isVerified,
        kid: isVerified ? String(readCompactJws(evidence.value)?.header.kid) : null,
      },
    };
  });
}
