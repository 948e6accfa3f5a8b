import type { Context } from 'koa';
import type { OperationId } from '../api/api-types.ts';
import type { RoomTools } from './tools.ts';

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
export function actLinks(ctx: Context, tools: RoomTools, acts: readonly Act[]) {
  const { t } = tools.reader(ctx);
  return acts
    .filter(({ when = true, operation }) => when && (!operation || tools.may(ctx, operation)))
    .filter(({ href }) => tools.opens(ctx, href))
    .map(({ href, word, isEnding, posted }) => ({
      href,
      word: t(word),
      tone: isEnding ? 'ending' : undefined,
      posted,
    }));
}
