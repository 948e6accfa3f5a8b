import type { Context } from 'koa';
import type { OperationId } from '../../api/api-types.ts';
import type { RoomKit } from '../../pages/kit.ts';

/** A subsection of Integration, as the navigation of its pages shows it. */
export interface Place {
  href: string;
  word: string;
  isCurrent: boolean;
}

const places: readonly (readonly [name: string, operation: OperationId])[] = [
  ['security', 'listKeys'],
  ['webhooks', 'listWebhooks'],
  ['peers', 'listPeers'],
  ['code', 'listModels'],
];

/** The subsections that the person may open. */
export function placesOf(ctx: Context, kit: RoomKit): Place[] {
  const { t } = kit.reader(ctx);
  return places
    .filter(([, operation]) => kit.may(ctx, operation))
    .map(([name]) => {
      const href = `${kit.path}/${name}`;
      return { href, word: t(`integration.${name}`), isCurrent: ctx.path.startsWith(href) };
    });
}
