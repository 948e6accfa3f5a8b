import { auditActions } from '#lib/audit/actions.ts';
import { auditAreas } from '#lib/contracts/audit-areas.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import { columnsFor } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { choiceFilter, timesOfDays } from '../../pages/filters.ts';
import { sendList } from '../../pages/list-page.ts';
import type { CellView, Column } from '../../pages/table.ts';
import type { Room } from '../room.ts';
import { subjectPath } from '../subjects/subject-path.ts';
import { type AuditLine, mergedReader, readMerged } from './merge-areas.ts';
import { readNewestCheckpoint, readProof } from './proof.ts';
import { type Named, resolveNames } from './resolve-names.ts';

type Names = ReadonlyMap<string, Named>;

/** Who did what, when (docs/audit.md). */
export const audit: Room = {
  name: 'audit',
  path: '/audit',
  reads: 'listConsentsAudit',
  feature: 'audit',
  views: ['list'],
  routes(router, kit) {
    router.get('/', async (ctx) => {
      const reader = kit.reader(ctx);
      const api = kit.api(ctx);
      const filters = kit.filters(ctx, kit.path, [
        choiceFilter(reader, 'audit.area', { name: 'area', group: 'auditArea', codes: auditAreas }),
        choiceFilter(reader, 'audit.action', { name: 'action', group: 'auditAction', codes: auditActions }),
        { name: 'actor', kind: 'text', label: reader.t('audit.actorId') },
        { name: 'target', kind: 'text', label: reader.t('audit.targetId') },
        { name: 'after', kind: 'date', label: reader.t('audit.after') },
        { name: 'before', kind: 'date', label: reader.t('audit.before') },
      ]);
      const { area, after: _from, before: _until, ...values } = filters.values;
      const filter = { ...values, ...timesOfDays(filters.values, kit.timeZone) };
      const of = auditAreas.filter((each) => area === undefined || each === area);
      const isExport = ctx.query.format === 'csv';
      const names = new Map<string, Named>();
      // The file has ids alone.
      const readNamed = async (place: string | undefined) => {
        const page = await readMerged(api, { of, filter, place });
        for (const each of await resolveNames(api, page.rows)) names.set(...each);
        return page;
      };
      await sendList(ctx, kit, {
        view: 'list',
        title: reader.t('audit.title'),
        filters,
        columns: columnsOf(reader, kit.path, names),
        read: isExport ? mergedReader(api, { of, filter }) : readNamed,
        csv: 'audit',
        locals: { proof: !isExport && (await readProof(api, reader, kit.path)) },
      });
    });

    router.get('/checkpoint/export', async (ctx) => {
      const checkpoint = await readNewestCheckpoint(kit.api(ctx));
      if (!checkpoint) throw new ApiFailure(404, {});
      ctx.attachment('checkpoint.json');
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
  const { time, word, code } = columnsFor<AuditLine>(reader);
  return [
    time('audit.at', ({ at }) => at),
    {
      label: reader.t('audit.actor'),
      cell: (line) => actorCell(reader, path, line, names),
      csv: ({ actorKind, actor }) => `${actorKind}/${actor}`,
    },
    word('audit.action', 'auditAction', ({ action }) => action),
    {
      label: reader.t('audit.target'),
      cell: (line) => targetCell(reader, path, line, names),
      csv: ({ target }) => target,
    },
    code('audit.request', ({ request }) => request),
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
  return named ? { text: named.name, href: named.href, note } : { code: id, note };
}
