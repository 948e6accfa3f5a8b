import type { Context } from 'koa';
import type { ApiClient } from '../../api/api-client.ts';
import type { OperationId } from '../../api/api-types.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { withQuery } from '../../pages/filters.ts';
import type { PageLocals, RoomKit } from '../../pages/kit.ts';
import { readPanels } from '../../pages/panel.ts';
import { expiringFigures, readExpiring } from './expiring.ts';
import { answerFigures, transactionFigures } from './figures.ts';
import { readNextSteps } from './next-steps.ts';
import { nameElements, periodLinks, periodOf, readDays } from './read-stats.ts';
import { readPeers, readWebhooks } from './watched.ts';

/** Panels that not everybody may read. */
const noPanels = { transactions: null, answers: null, expiring: null, webhooks: null, peers: null };

/** Reads what the first page shows, side by side. */
export async function readHome(ctx: Context, kit: RoomKit): Promise<PageLocals> {
  const reader = kit.reader(ctx);
  const api = kit.api(ctx);
  const length = periodOf(ctx.query.days);
  const here = withQuery(kit.path, { days: ctx.query.days ? String(length) : undefined });
  const may = (operation: OperationId) => kit.may(ctx, operation);
  const stats = may('getStats') ? readDays(api, kit.timeZone, length) : undefined;
  const hasRecent = async () => ((await stats)?.states.COMMITTED ?? 0) > 0;
  const reads = {
    steps: readNextSteps(api, reader, { may, hasRecent }),
    ...(stats && readFigures(api, reader, { stats, here })),
    ...(may('listWebhooks') && { webhooks: readWebhooks(api, reader, may('createWebhook')) }),
    ...(may('getPeer') && { peers: readPeers(api, reader, may('createPeer')) }),
  };
  const counts = ['transactions', 'answers', 'expiring'];
  const panels = await readPanels(reader, reads, { names: counts, href: here, query: ctx.query });
  return {
    title: reader.t('home.title'),
    periods: periodLinks(reader, kit.path, length),
    ...noPanels,
    ...panels,
  };
}

/** Counts of transactions and answers. @param here path and query of the page. */
function readFigures(
  api: ApiClient,
  reader: ConsoleReader,
  { stats, here }: { stats: ReturnType<typeof readDays>; here: string },
) {
  const answers = stats.then(({ elements }) => nameElements(api, elements));
  return {
    transactions: stats.then((read) => transactionFigures(reader, read, here)),
    answers: answers.then((elements) => answerFigures(reader, elements, here)),
    expiring: readExpiring(api).then((read) => expiringFigures(reader, read, here)),
  };
}
