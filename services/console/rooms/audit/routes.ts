import { auditActions } from '#lib/audit/actions.ts';
import { auditAreas } from '#lib/contracts/audit-areas.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { sendCsv } from '../../pages/csv-export.ts';
import { choicesOf, timesOfDays } from '../../pages/filters.ts';
import { type CellView, type Column, tableView } from '../../pages/table.ts';
import type { Room } from '../room.ts';
import { subjectPath } from '../subjects/subject-path.ts';
import { type AuditLine, readMerged } from './merge-areas.ts';
import { readNewestCheckpoint, readProof } from './proof.ts';
import { type Named, resolveNames } from './resolve-names.ts';

type Names = ReadonlyMap<string, Named>;

/** Who did what, when (docs/audit.md). */
export const audit: Room = {
  name: 'audit',
  path: '/audit',
  roles: ['admin'],
  feature: 'audit',
  views: ['list'],
  routes(router, kit) {
    router.get('/', async (ctx) => {
      const reader = kit.reader(ctx);
      const api = kit.api(ctx);
      const filters = kit.filters(ctx, kit.path, [
        {
          name: 'area',
          kind: 'choice',
          label: reader.t('audit.area'),
          options: choicesOf(reader, 'auditArea', auditAreas),
        },
        {
          name: 'action',
          kind: 'choice',
          label: reader.t('audit.action'),
          options: choicesOf(reader, 'auditAction', auditActions),
        },
        { name: 'actor', kind: 'text', label: reader.t('audit.actorId') },
        { name: 'target', kind: 'text', label: reader.t('audit.targetId') },
        { name: 'after', kind: 'date', label: reader.t('audit.after') },
        { name: 'before', kind: 'date', label: reader.t('audit.before') },
      ]);
      const { area, after: _from, before: _until, ...values } = filters.values;
      const filter = { ...values, ...timesOfDays(filters.values, kit.timeZone) };
      const of = auditAreas.filter((each) => area === undefined || each === area);
      const read = (place?: string) => readMerged(api, { of, filter, place });
      const withoutNames = columnsOf(reader, kit.path, new Map());
      if (ctx.query.format === 'csv') return sendCsv(ctx, 'audit', withoutNames, read);
      const cursor = kit.cursor(ctx);
      const { path } = kit;
      const caption = reader.t('audit.title');
      const page = await read(cursor);
      const columns = columnsOf(reader, path, await resolveNames(api, page.rows));
      await kit.page(ctx, 'list', {
        title: caption,
        path,
        filters,
        proof: await readProof(api, reader, path),
        table: tableView(reader, { caption, columns, path, filters, cursor, ...page }),
      });
    });

    router.get('/checkpoint/export', async (ctx) => {
      const checkpoint = await readNewestCheckpoint(kit.api(ctx));
      if (!checkpoint) throw new ApiFailure(404, {});
      ctx.set('Content-Disposition', 'attachment; filename="checkpoint.json"');
      ctx.body = checkpoint;
    });

    // The log has no names, and the address of a person's page is made from the name.
    router.get('/subject/:id', async (ctx) => {
      const params = { name: String(ctx.params.id) };
      const { body } = await kit.api(ctx).call('getSubject', { params });
      kit.open(ctx, subjectPath(kit, body.name));
    });
  },
};

function columnsOf(reader: ConsoleReader, path: string, names: Names): Column<AuditLine>[] {
  return [
    { label: reader.t('audit.at'), cell: ({ at }) => ({ time: reader.time(at) }), csv: ({ at }) => at },
    {
      label: reader.t('audit.actor'),
      cell: (line) => actorCell(reader, path, line, names),
      csv: ({ actorKind, actor }) => `${actorKind}/${actor}`,
    },
    {
      label: reader.t('audit.action'),
      cell: ({ action }) => ({ text: reader.word('auditAction', action) }),
      csv: ({ action }) => action,
    },
    {
      label: reader.t('audit.target'),
      cell: (line) => targetCell(reader, path, line, names),
      csv: ({ target }) => target,
    },
    {
      label: reader.t('audit.request'),
      cell: ({ request }) => (request ? { code: request } : { text: '–' }),
      csv: ({ request }) => request ?? '',
    },
  ];
}

/** The link leads to the lines of the same actor. */
function actorCell(
  reader: ConsoleReader,
  path: string,
  { actorKind, actor }: AuditLine,
  names: Names,
): CellView {
  const href = `${path}?actor=${encodeURIComponent(actor)}`;
  const name = names.get(`${actorKind}/${actor}`)?.name;
  const note = reader.word('auditActor', actorKind);
  return name === undefined ? { code: actor, href, note } : { text: name, href, note };
}

function targetCell(reader: ConsoleReader, path: string, { target }: AuditLine, names: Names): CellView {
  const [kind = '', id = ''] = target.split('/');
  const note = reader.word('auditTarget', kind);
  if (id === 'all') return { text: reader.t('audit.all'), note };
  if (kind === 'subject') return { code: id, href: `${path}/subject/${id}`, note };
  if (kind === 'transaction') return { code: id, href: `/console/transactions/${id}`, note };
  const named = names.get(target);
  return named ? { text: named.name, href: named.href ?? path, note } : { code: id, note };
}
