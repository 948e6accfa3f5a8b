import type { ReleasedSubmission, TransactionsOperations } from '#lib/contracts/transactions.ts';

/** Gives the part of a submission; null: there is nothing to send any more. Each is asked for once. */
export type ReadPart = (sid: string) => Promise<ReleasedSubmission | null>;

/**
 * Reads parts that are sent soon after each other with as few calls as their lengths allow: what comes with the first is kept for its turn.
 * One call at a time: parts that are asked for meanwhile wait for it, because they may come with it.
 */
export function readAhead(
  transactions: Pick<TransactionsOperations, 'readSubmissions'>,
  sids: readonly string[],
): ReadPart {
  const left = new Set(sids);
  const read = new Map<string, ReleasedSubmission | null>();
  let reading: Promise<void> | undefined;

  async function readMore(first: string): Promise<void> {
    const wanted = [first, ...[...left].filter((sid) => sid !== first && !read.has(sid))];
    const found = await transactions.readSubmissions({ sids: wanted });
    for (const [sid, part] of Object.entries({ [first]: null, ...found })) read.set(sid, part);
  }

  return async (sid) => {
    while (!read.has(sid)) {
      reading ??= readMore(sid).finally(() => {
        reading = undefined;
      });
      await reading;
    }
    left.delete(sid);
    const part = read.get(sid) ?? null;
    read.delete(sid);
    return part;
  };
}
