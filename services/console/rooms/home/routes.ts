import type { Context } from 'koa';
import { sendCsv } from '../../pages/csv-export.ts';
import type { RoomKit } from '../../pages/kit.ts';
import type { Column } from '../../pages/table.ts';
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
  routes(router, kit) {
    router.get('/', async (ctx) => {
      if (ctx.query.format === 'csv') return sendTable(ctx, kit);
      await kit.page(ctx, 'home', await readHome(ctx, kit));
    });
  },
};

/** The counts of the page as a file. */
async function sendTable(ctx: Context, kit: RoomKit): Promise<void> {
  const reader = kit.reader(ctx);
  const send = <Row>(name: string, columns: readonly Column<Row>[], rows: readonly Row[]) =>
    sendCsv(ctx, reader, { name, columns, read: async () => ({ rows }) });
  if (ctx.query.table === 'expiring') {
    const { elements } = await readExpiring(kit.api(ctx));
    return send('expiring', expiringColumns(reader, false), elements);
  }
  const stats = await readDays(kit.api(ctx), kit.timeZone, periodOf(ctx.query.days));
  if (ctx.query.table === 'elements') {
    const rows = await nameElements(kit.api(ctx), stats.elements, 200);
    return send('elements', elementColumns(reader), rows);
  }
  return send('days', dayColumns(reader), stats.days);
}
