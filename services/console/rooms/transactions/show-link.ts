import type { Context } from 'koa';
import type { Schemas } from '../../api/api-types.ts';
import type { RoomTools } from '../../pages/tools.ts';

/** Shows, once, a link to pass on. Its bearer acts as the person. */
export function showLink(ctx: Context, tools: RoomTools, { url, expires }: Schemas['ShortLink']) {
  const { t, time } = tools.reader(ctx);
  return tools.secret(ctx, {
    title: t('transactions.linkShown'),
    text: t('transactions.linkText', { date: time(expires).text }),
    label: t('transactions.linkOf'),
    value: url,
    next: { href: `${tools.path}/${String(ctx.params.txid)}`, word: t('transactions.back') },
  });
}
