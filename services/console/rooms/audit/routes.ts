import type { Context } from 'koa';
import { type AuditAction, auditActions, readActions } from '#lib/audit/actions.ts';
import { auditAreas } from '#lib/contracts/audit-areas.ts';
import { fileName } from '#lib/text/file-name.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { organisationOf } from '../../pages/csv-export.ts';
import { choiceFilter, type FilterSpec, timesOfDays } from '../../pages/filters.ts';
import type { FieldSpec } from '../../pages/form.ts';
import { sendList } from '../../pages/list-page.ts';
import { subjectPath } from '../../people/subject-path.ts';
import type { Room } from '../room.ts';
import { checkRoute } from './check.ts';
import { findForm, findRoutes, namedPerson } from './find.ts';
import { columnsOf, groupReads, type ShownLine } from './lines.ts';
import { mergedReader, readMerged } from './merge-areas.ts';
import { readNewestCheckpoint, readProof } from './proof.ts';
import { type Named, resolveNames } from './resolve-names.ts';

/** Who did what, when (docs/audit.md). */
export const audit: Room = {
  name: 'audit',
  path: '/audit',
  reads: 'listConsentsAudit',
  feature: 'audit',
  views: ['list', 'check'],
  routes(router, tools) {
    const show = async (ctx: Context, failure?: ApiFailure) => {
      const reader = tools.reader(ctx);
      const api = tools.api(ctx);
      const filters = tools.filters(ctx, tools.path, filterSpecs(reader));
      const { area, kind, s: _person, after: _from, before: _until, ...values } = filters.values;
      const action = values.action ?? actionsOf(kind, values.target)?.join(',');
      const filter = { ...values, ...(action && { action }), ...timesOfDays(filters.values, tools.timeZone) };
      const of = auditAreas.filter((each) => area === undefined || each === area);
      const isExport = ctx.query.format === 'csv';
      const names = new Map<string, Named>(namedPerson(tools, filters.values));
      // The file has ids alone.
      const readNamed = async (place: string | undefined) => {
        const page = await readMerged(api, { of, filter, place });
        for (const [key, named] of await resolveNames(
          api,
          page.rows,
          tools.may(ctx, 'listSubjects') && tools,
        ))
          if (!names.has(key)) names.set(key, named);
        return { ...page, rows: groupReads(page.rows, new Set(readActions)) };
      };
      // The form names what the lines are about.
      const shown = isExport ? undefined : await readNamed(tools.cursor(ctx));
      await sendList<ShownLine>(ctx, tools, {
        view: 'list',
        title: reader.t('audit.title'),
        filters,
        columns: columnsOf(reader, tools.path, names),
        read: shown ? async () => shown : mergedReader(api, { of, filter }),
        csv: 'audit',
        locals: {
          checkUrl: `${tools.path}/check`,
          proof: !isExport && (await readProof(api, reader, tools.path)),
          find: findForm(ctx, tools, {
            fields: filterFields(reader),
            values: {
              ...filters.values,
              who: whoOf(names, values.actor),
              about: aboutOf(names, values.target),
            },
            failure,
          }),
          clearUrl: filters.isSet && tools.path,
        },
      });
      if (failure) ctx.status = failure.status;
    };
    router.get('/', (ctx) => show(ctx));
    findRoutes(router, tools, show);
    checkRoute(router, tools);

    router.get('/checkpoint/export', async (ctx) => {
      const checkpoint = await readNewestCheckpoint(tools.api(ctx));
      if (!checkpoint) throw new ApiFailure(404, {});
      ctx.attachment(`${fileName(organisationOf(ctx), 'checkpoint')}.json`);
      ctx.body = checkpoint;
    });

    // The log has no names, and the address of a person's page is made from the name.
    router.get('/subject/:id', async (ctx) => {
      const params = { name: String(ctx.params.id) };
      const { body } = await tools.api(ctx).call('getSubject', { params });
      tools.open(ctx, subjectPath(tools, body.name));
    });
  },
};

/** What the lines that are shown are about, in words with which they can be found again. */
function aboutOf(names: ReadonlyMap<string, Named>, target: string | undefined): string | undefined {
  return target && (names.get(target)?.name ?? target);
}

/** Who has done the lines that are shown, by name. */
function whoOf(names: ReadonlyMap<string, Named>, actor: string | undefined): string | undefined {
  const named = actor && ['account', 'key'].flatMap((kind) => names.get(`${kind}/${actor}`) ?? [])[0];
  return named ? named.name : actor;
}

/** What is shown of everything, as the URL says it. Who and about what is found by name. */
function filterSpecs(reader: ConsoleReader): FilterSpec[] {
  return [
    ...shownFilters(reader),
    { name: 'actor', kind: 'hidden' },
    { name: 'target', kind: 'hidden' },
    { name: 's', kind: 'hidden' },
  ];
}

function shownFilters(reader: ConsoleReader): FilterSpec[] {
  return [
    choiceFilter(reader, 'audit.kind', { name: 'kind', group: 'auditKind', codes: ['changes', 'reads'] }),
    choiceFilter(reader, 'audit.area', { name: 'area', group: 'auditArea', codes: auditAreas }),
    choiceFilter(reader, 'audit.action', { name: 'action', group: 'auditAction', codes: auditActions }),
    { name: 'after', kind: 'date', label: reader.t('audit.after') },
    { name: 'before', kind: 'date', label: reader.t('audit.before') },
  ];
}

/** By what was done, where and when, as fields of the form. */
function filterFields(reader: ConsoleReader): FieldSpec[] {
  return shownFilters(reader).flatMap((filter): FieldSpec[] =>
    filter.kind === 'hidden' ? [] : [filter.kind === 'choice' ? { ...filter, kind: 'select' } : filter],
  );
}

/**
 * The answers of people are not among the changes of everything, which are those of staff. Of one person or
 * transaction they are.
 */
function actionsOf(kind: string | undefined, target: string | undefined): readonly AuditAction[] | undefined {
  if (kind === 'reads') return readActions;
  if (kind !== 'changes') return undefined;
  const ofStaff = (action: AuditAction) => target !== undefined || action !== 'receipt.signed';
  return auditActions.filter((action) => ofStaff(action) && !readActions.includes(action));
}
