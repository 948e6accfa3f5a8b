import type { Context } from 'koa';
import type { RoomKit } from '../../pages/kit.ts';

/** A subsection of Settings, as the navigation of its pages shows it. */
interface Place {
  href: string;
  word: string;
  isCurrent: boolean;
}

/** The subsections that the person may open. */
export function placesOf(ctx: Context, kit: RoomKit): Place[] {
  const { t } = kit.reader(ctx);
  const isAdministrator = kit.may(ctx, 'listAccounts');
  const names = isAdministrator ? ['', '/accounts', '/you'] : ['/you'];
  return names.map((name) => ({
    href: `${kit.path}${name}`,
    word: t(`settings.place${name.replace('/', '.')}`),
    isCurrent: name === '' ? ctx.path === kit.path : ctx.path.startsWith(`${kit.path}${name}`),
  }));
}
