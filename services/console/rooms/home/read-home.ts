import type { Context } from 'koa';
import { withQuery } from '../../pages/filters.ts';
import type { PageLocals, RoomKit } from '../../pages/kit.ts';
import { readPanels } from '../../pages/panel.ts';
import { expiringFigures, readExpiring } from './expiring.ts';
import { answerFigures, transactionFigures } from './figures.ts';
import { readNextSteps } from './next-steps.ts';
import { nameElements, periodLinks, periodOf, readDays } from './read-stats.ts';
import { readPeers, readWebhooks } from './watched.ts';

/** Reads what the first page shows, side by side. */
export async function readHome(ctx: Context, kit: RoomKit): Promise<PageLocals> {
  const reader = kit.reader(ctx);
  const api = kit.api(ctx);
  const length = periodOf(ctx.query.days);
  const here = withQuery(kit.path, { days: ctx.query.days ? String(length) : undefined });
  const stats = readDays(api, kit.timeZone, length);
  const answers = stats.then(({ elements }) => nameElements(api, elements));
  const reads = {
    steps: readNextSteps(api, reader, (operation) => kit.may(ctx, operation)),
    transactions: stats.then((read) => transactionFigures(reader, read, here)),
    answers: answers.then((elements) => answerFigures(reader, elements, here)),
    expiring: readExpiring(api).then((read) => expiringFigures(reader, read, here)),
    webhooks: readWebhooks(api, reader, kit.may(ctx, 'createWebhook')),
    ...(kit.may(ctx, 'listPeers') && { peers: readPeers(api, reader) }),
  };
  const counts = ['transactions', 'answers', 'expiring'];
  const panels = await readPanels(reader, reads, { names: counts, href: here, query: ctx.query });
  return {
    title: reader.t('home.title'),
    periods: periodLinks(reader, kit.path, length),
    peers: null,
    ...panels,
  };
}
