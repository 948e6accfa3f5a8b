import type { Context } from 'koa';
import type { ApiClient } from '../../api/api-client.ts';
import type { OperationId } from '../../api/api-types.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { withQuery } from '../../pages/filters.ts';
import { firstOf, readPanels } from '../../pages/panel.ts';
import type { PageLocals, RoomTools } from '../../pages/tools.ts';
import { nameElements, periodLinks, periodOf, readDays } from '../../people/read-stats.ts';
import { readDue } from './due.ts';
import { expiringFigures, readExpiring } from './expiring.ts';
import { answerFigures, transactionFigures } from './figures.ts';
import { readNextSteps } from './next-steps.ts';
import { watchedPeers, watchedWebhooks } from './watched.ts';

/** Panels that not everybody may read. */
const noPanels = { transactions: null, answers: null, expiring: null, webhooks: null, peers: null };

/** Reads what the first page shows, side by side. */
export async function readHome(ctx: Context, tools: RoomTools): Promise<PageLocals> {
  const reader = tools.reader(ctx);
  const api = tools.api(ctx);
  const length = periodOf(ctx.query.days);
  const here = withQuery(tools.path, { days: ctx.query.days ? String(length) : undefined });
  const may = (operation: OperationId) => tools.may(ctx, operation);
  const stats = may('getStats') ? readDays(api, tools.timeZone, length) : undefined;
  const hasRecent = async () => ((await stats)?.states.COMMITTED ?? 0) > 0;
  const lists = {
    webhooks: may('listWebhooks') ? readAll(api, 'listWebhooks') : undefined,
    peers: may('getPeer') ? readAll(api, 'listPeers') : undefined,
  };
  const expiring = stats && readExpiring(api);
  const reads = {
    due: readDue(api, reader, {
      may,
      ...lists,
      expiring: expiring && countSoon(expiring, ctx.query.wait === 'true'),
    }),
    steps: readNextSteps(api, reader, { may, hasRecent }),
    ...(stats &&
      expiring &&
      readFigures(api, reader, { stats, expiring, here, mayAsk: may('createCampaign') })),
    ...(lists.webhooks && {
      webhooks: lists.webhooks.then((all) => watchedWebhooks(reader, all, may('createWebhook'))),
    }),
    ...(lists.peers && {
      peers: lists.peers.then((all) => watchedPeers(reader, all, may('createPeer'))),
    }),
  };
  const counts = ['transactions', 'answers', 'expiring'];
  const panels = await readPanels(reader, reads, { names: counts, href: here, query: ctx.query });
  return {
    title: reader.t('home.title'),
    periods: periodLinks(reader, tools.path, length),
    ...noPanels,
    ...panels,
  };
}

async function readAll<Id extends 'listWebhooks' | 'listPeers'>(api: ApiClient, operation: Id) {
  return (await api.list(operation, { page: { limit: 200 } })).rows;
}

/** How many answers expire soon; undefined if counting takes longer than the page waits. */
async function countSoon(
  expiring: ReturnType<typeof readExpiring>,
  waits: boolean,
): Promise<number | undefined> {
  const read = await (waits ? expiring : firstOf(expiring, undefined));
  return read?.elements.reduce((sum, { expiring: count }) => sum + count, 0);
}

/** Counts of transactions and answers. @param here path and query of the page. */
function readFigures(
  api: ApiClient,
  reader: ConsoleReader,
  {
    stats,
    expiring,
    here,
    mayAsk,
  }: {
    stats: ReturnType<typeof readDays>;
    expiring: ReturnType<typeof readExpiring>;
    here: string;
    mayAsk: boolean;
  },
) {
  const answers = stats.then(({ elements }) => nameElements(api, elements));
  return {
    transactions: stats.then((read) => transactionFigures(reader, read, here)),
    answers: answers.then((elements) => answerFigures(reader, elements, here)),
    expiring: expiring.then((read) => expiringFigures(reader, read, { path: here, mayAsk })),
  };
}
