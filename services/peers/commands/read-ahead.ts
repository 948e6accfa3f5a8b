import type { ReleasedSubmission, TransactionsOperations } from '#lib/contracts/transactions.ts';

/** Gives the part of a submission; null: there is nothing to send (any more). Each is asked for once. */
export type ReadPart = (sid: string) => Promise<ReleasedSubmission | null>;

/**
 * Reads parts that are sent one after the other with as few calls as their lengths allow: what comes with the first is kept for its turn.
 * They are to be sent soon, because what has been read may be taken back meanwhile.
 */
export function readAhead(
  transactions: Pick<TransactionsOperations, 'readSubmissions'>,
  sids: readonly string[],
): ReadPart {
  const left = new Set(sids);
  let read = new Map<string, ReleasedSubmission | null>();
  return async (sid) => {
    if (!read.has(sid)) {
      const wanted = [sid, ...[...left].filter((each) => each !== sid)];
      read = new Map(Object.entries(await transactions.readSubmissions({ sids: wanted })));
    }
    left.delete(sid);
    const part = read.get(sid) ?? null;
    read.delete(sid);
    return part;
  };
}
