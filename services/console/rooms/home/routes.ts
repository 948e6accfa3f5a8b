import type { Context } from 'koa';
import { sendCsv } from '../../pages/csv-export.ts';
import type { Column } from '../../pages/table.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { nameElements, periodOf, readDays } from '../../people/read-stats.ts';
import type { Room } from '../room.ts';
import { expiringColumns, readExpiring } from './expiring.ts';
import { dayColumns, elementColumns } from './figures.ts';
import { readHome } from './read-home.ts';

/** The first page of the console: what to do next, and what happened lately. */
export const home: Room = {
  name: 'home',
  path: '',
  reads: 'getUser',
  views: ['home'],
  routes(router, tools) {
    router.get('/', async (ctx) => {
      if (ctx.query.format === 'csv') return sendTable(ctx, tools);
      await tools.page(ctx, 'home', await readHome(ctx, tools));
    });
  },
};

/** The counts of the page as a file. */
async function sendTable(ctx: Context, tools: RoomTools): Promise<void> {
  const reader = tools.reader(ctx);
  const send = <Row>(name: string, columns: readonly Column<Row>[], rows: readonly Row[]) =>
    sendCsv(ctx, reader, { name, columns, read: async () => ({ rows }) });
  if (ctx.query.table === 'expiring') {
    const { elements } = await readExpiring(tools.api(ctx));
    return send('expiring', expiringColumns(reader, false), elements);
  }
  const stats = await readDays(tools.api(ctx), tools.timeZone, periodOf(ctx.query.days));
  if (ctx.query.table === 'elements') {
    const rows = await nameElements(tools.api(ctx), stats.elements, 200);
    return send('elements', elementColumns(reader), rows);
  }
  return send('days', dayColumns(reader), stats.days);
}
