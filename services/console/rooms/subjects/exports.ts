import { Readable } from 'node:stream';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { fileName } from '#lib/text/file-name.ts';
import type { Schemas } from '../../api/api-types.ts';
import { organisationOf } from '../../pages/csv-export.ts';
import { largestPage, readPages, whileConnected } from '../../pages/read-pages.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { nameOf } from '../../people/subject-path.ts';

type Exported = Pick<Schemas['SubjectExport'], 'audit' | 'peers'>;

/** Files with all that is known of a person, however many transactions there are. */
export function exportRoutes(router: Router, tools: RoomTools): void {
  router.get('/:s/export', async (ctx) => {
    const { name } = nameOf(ctx, tools);
    const pages: Exported[] = [];
    const read = async (cursor: string | undefined) => {
      const call = { params: { name }, page: { cursor, limit: largestPage } };
      const { body, next } = await tools.api(ctx).call('exportSubject', call);
      pages.push({ audit: body.audit, peers: body.peers });
      return { rows: body.transactions.map(withoutLink), subject: body.subject, next };
    };
    await sendJson(ctx, fileName(organisationOf(ctx), name, 'export'), read, {
      head: ({ subject }) => ({ subject }),
      // Each page has the lines about the person, and the peers of its transactions.
      tail: () => ({
        audit: distinct(pages.flatMap(({ audit }) => audit)).sort((one, other) =>
          one.at < other.at ? 1 : -1,
        ),
        peers: distinct(pages.flatMap(({ peers }) => peers)),
      }),
    });
  });

  router.get('/:s/document/export', async (ctx) => {
    const { name } = nameOf(ctx, tools);
    const { body: subject } = await tools.api(ctx).call('getSubject', { params: { name } });
    // The document is for the person.
    const query = { format: 'html', language: subject.defaultLanguage ?? tools.reader(ctx).language };
    const { stream } = await tools.api(ctx).file('exportSubject', { params: { name }, query });
    ctx.attachment(`${fileName(organisationOf(ctx), name, 'export')}.html`);
    ctx.body = stream;
  });
}

/**
 * Sends an object as a JSON file while its member `transactions` is read. As with CSV files, only a failure
 * of the first page has a status; a later one breaks the connection.
 * @param members before and after the transactions.
 */
async function sendJson<Page extends { rows: readonly unknown[]; next?: string }>(
  ctx: Context,
  name: string,
  read: (cursor: string | undefined) => Promise<Page>,
  { head, tail }: { head(first: Page): object; tail(): object },
): Promise<void> {
  const pages = readPages(read, whileConnected(ctx));
  const first = await pages.next();
  ctx.attachment(`${name}.json`);
  ctx.body = Readable.from(pieces());

  async function* pieces() {
    if (first.done) return;
    // Both objects lack the brace at the transactions.
    yield `${JSON.stringify(head(first.value)).slice(0, -1)},"transactions":[`;
    let isFirst = true;
    for (let page: IteratorResult<Page, void> = first; !page.done; page = await pages.next()) {
      const rows = page.value.rows.map((row) => JSON.stringify(row)).join(',');
      if (rows !== '') yield isFirst ? rows : `,${rows}`;
      if (rows !== '') isFirst = false;
    }
    yield `],${JSON.stringify(tail()).slice(1)}`;
  }
}

/** A transaction whose receipt has no link with which its reader could act as the person. */
function withoutLink({ receipt, ...transaction }: Schemas['SubjectExport']['transactions'][number]) {
  return { ...transaction, ...(receipt && { receipt: { ...receipt, updateUrl: undefined } }) };
}

function distinct<Value>(values: readonly Value[]): Value[] {
  return [...new Map(values.map((value) => [JSON.stringify(value), value])).values()];
}
