import type { Context } from 'koa';
import type { OperationId } from '../api/api-types.ts';
import type { RoomKit } from './kit.ts';

/** An act that a page offers to people who may call its operation. */
export interface Act {
  href: string;
  /** The message on its link. */
  word: string;
  operation?: OperationId;
  /** Whether the act is possible in the state of the thing. Default: yes. */
  when?: boolean;
  isEnding?: boolean;
  /** Fields of an act that is sent at once, without a page that asks. */
  posted?: Readonly<Record<string, string>>;
}

/** The links to the acts that are possible and allowed, in their order. */
export function actLinks(ctx: Context, kit: RoomKit, acts: readonly Act[]) {
  const { t } = kit.reader(ctx);
  return acts
    .filter(({ when = true, operation }) => when && (!operation || kit.may(ctx, operation)))
    .filter(({ href }) => kit.opens(ctx, href))
    .map(({ href, word, isEnding, posted }) => ({
      href,
      word: t(word),
      tone: isEnding ? 'ending' : undefined,
      posted,
    }));
}
