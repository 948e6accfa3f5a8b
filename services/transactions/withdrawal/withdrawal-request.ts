import { fail } from '#lib/errors/fail.ts';
import { invalidComment, splitComment } from '../answer/answers.ts';
import { partWithdrawals, type StandingPart } from '../sent-parts/part-withdrawal.ts';
import { type StandingAnswer, statedTime } from '../standing/standing-answer.ts';
import type { Collection } from '../transaction/context.ts';
import { parseCollection } from '../transaction/parse-collection.ts';
import { isFault, keyOf } from '../transaction/values.ts';

/**
 * What a request names, in the order of its body. Undefined `keys`: all processings that can be withdrawn;
 * undefined `peers`: all peers.
 */
export interface WithdrawalRequest {
  keys: string[] | undefined;
  /** Base URLs. */
  peers: string[] | undefined;
  comment: string | null;
  /** How the person asked for it, if staff withdraws on behalf. */
  collection?: Collection | undefined;
}

/**
 * Reads the body of a request to withdraw.
 * @param maxNamed of questions, and of peers.
 * @throws Failure `invalid`, `invalid-answer` for the comment.
 */
export function readWithdrawal(body: unknown, maxNamed = 200): WithdrawalRequest {
  const members = typeof body === 'object' && body !== null && !Array.isArray(body) ? body : {};
  const { elements, peers, comment, collection: given } = members as Record<string, unknown>;
  const sent = splitComment(comment === undefined ? {} : { comment });
  if (!sent) throw invalidComment();
  const keys = readNamed(elements, '/elements', maxNamed)?.map(keyOf);
  const locations = readNamed(peers, '/peers', maxNamed);
  const collection = given === undefined ? undefined : readCollection(given);
  const how = { comment: sent.comment, collection };
  if (!keys && !locations) return { keys: undefined, peers: undefined, ...how };
  return { keys: keys ?? [], peers: locations ?? [], ...how };
}

function readCollection(value: unknown): Collection {
  const read = parseCollection({ value, pointer: '/collection' });
  if (isFault(read)) throw fail('invalid', 'The body is not valid.', { errors: [read] });
  return read;
}

/** Reads a list of names, or one. @throws Failure `invalid` for an empty list, or for too many. */
export function readNamed(value: unknown, pointer: string, maxNamed = 200): string[] | undefined {
  if (value === undefined) return undefined;
  const named = [value].flat().map(String);
  if (named.length > 0 && named.length <= maxNamed) return named;
  throw fail('invalid', 'The body is not valid.', {
    errors: [{ pointer, code: 'invalid', detail: `must have 1 to ${maxNamed} entries` }],
  });
}

/**
 * The newest withdrawal of the answers and parts that a request names; a repeated request returns it.
 * @param madeAt only this transaction and withdrawals that were made at it; undefined: all.
 */
export function earlierWithdrawal(
  { standing, parts }: { standing: readonly StandingAnswer[]; parts: readonly StandingPart[] },
  { keys, peers }: WithdrawalRequest,
  madeAt: string | undefined,
): string | undefined {
  return standing
    .filter(({ key, kind }) => kind === 'WITHDRAWAL' && (keys?.includes(key) ?? true))
    .map((answer) => ({ id: answer.transaction, parent: answer.parent, at: statedTime(answer) }))
    .concat(partWithdrawals(parts, peers))
    .filter(({ id, parent }) => madeAt === undefined || madeAt === parent || madeAt === id)
    .sort((a, b) => b.at.getTime() - a.at.getTime())[0]?.id;
}
