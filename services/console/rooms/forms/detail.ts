import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { withQuery } from '../../pages/filters.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { stateMark } from '../../pages/states.ts';
import { type Column, tableView } from '../../pages/table.ts';
import { type ElementView, readNamed } from './elements.ts';
import { layoutOf } from './layout-values.ts';
import { type Entry, type FoundForm, findForm, findVersion } from './read-form.ts';

/** A form: facts, elements, versions, what can be done; its name and description. */
export function detailRoutes(router: Router, kit: RoomKit): void {
  router.get('/:key', async (ctx) => {
    const reader = kit.reader(ctx);
    const form = await findForm(ctx, kit);
    const { entry, href } = form;
    const shown =
      (await findVersion(ctx, kit, entry, 'ACTIVE')) ?? (await findVersion(ctx, kit, entry, 'DRAFT'));
    const layout = shown && layoutOf(shown.version);
    const elements = layout ? await readNamed(ctx, kit, layout.elements) : [];
    const versions = reader.t('versions.title');
    await kit.page(ctx, 'detail', {
      title: entry.name,
      facts: factsOf(reader, entry),
      description: entry.description ?? '',
      acts: actsOf(ctx, kit, form),
      ends: endsOf(ctx, kit, form),
      elements: tableView(reader, {
        caption: reader.t('designer.elements'),
        columns: elementColumns(reader),
        rows: elements,
        path: href,
      }),
      versions: tableView(reader, {
        caption: versions,
        columns: versionColumns(reader, href),
        rows: entry.versions,
        path: href,
      }),
    });
  });

  router.get('/:key/export', async (ctx) => {
    const { entry } = await findForm(ctx, kit);
    const { body } = await kit.api(ctx).call('exportModel', { params: { id: entry.id } });
    ctx.type = 'application/json; charset=utf-8';
    ctx.set('Content-Disposition', `attachment; filename="${entry.key}.json"`);
    ctx.body = `${JSON.stringify(body, null, 2)}\n`;
  });

  const showName = async (ctx: Context, failure?: ApiFailure) => {
    const { t } = kit.reader(ctx);
    if (!kit.may(ctx, 'updateModel')) throw new ApiFailure(403, {});
    const { entry, etag, href } = await findForm(ctx, kit);
    const { name, description } = entry;
    const form = kit.form(ctx, {
      action: `${href}/name`,
      submit: t('forms.save'),
      cancelUrl: href,
      fields: [
        { name: 'name', label: t('forms.name'), isRequired: true, maxLength: 255 },
        { name: 'description', label: t('forms.description'), kind: 'textarea', maxLength: 20_000 },
      ],
      values: failure ? kit.posted(ctx) : { name, description },
      failure,
      hidden: { etag: etag ?? '' },
    });
    await kit.page(ctx, 'new', { title: t('forms.nameTitle', { name }), form }, failure?.status);
  };
  router.get('/:key/name', (ctx) => showName(ctx));

  router.post('/:key/name', async (ctx) => {
    const { name = [''], description = [''], etag } = kit.posted(ctx);
    const { entry, href } = await findForm(ctx, kit);
    try {
      const body = { name: name[0]?.trim() ?? '', description: description[0]?.trim() ?? '' };
      await kit.api(ctx).call('updateModel', { params: { id: entry.id }, body, ifMatch: etag?.[0] });
      kit.open(ctx, href, 'formNamed');
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      await showName(ctx, error);
    }
  });
}

function factsOf(reader: ConsoleReader, entry: Entry) {
  const { t } = reader;
  const active = entry.versions.find(({ status }) => status === 'ACTIVE');
  return [
    { label: t('forms.status'), cell: { state: stateMark(reader, 'entryStatus', entry.status) } },
    { label: t('forms.key'), cell: { code: entry.key } },
    ...(active ? [{ label: t('forms.version'), cell: { code: active.serial ?? '' } }] : []),
    {
      label: t('forms.languages'),
      cell: { text: entry.availableLanguages.map(reader.languageName).join(', ') || '–' },
    },
    { label: t('forms.created'), cell: { time: reader.time(entry.creationDate) } },
    { label: t('forms.changed'), cell: { time: reader.time(entry.modificationDate) } },
  ];
}

/** What can be done with the form; the first is the next step. */
function actsOf(ctx: Context, kit: RoomKit, { entry, href }: FoundForm) {
  const { t } = kit.reader(ctx);
  const has = (wanted: string) => entry.versions.some(({ status }) => status === wanted);
  const [isActive, hasDraft] = [has('ACTIVE'), has('DRAFT')];
  const codeUrl = withQuery('/console/integration/code', { form: entry.key });
  const acts = [
    hasDraft && kit.may(ctx, 'setVersionStatus') && { href: `${href}/activate`, word: t('forms.activate') },
    kit.may(ctx, 'createVersion') && {
      href: `${href}/edit`,
      word: t(hasDraft ? 'forms.goOn' : 'forms.design'),
    },
    isActive && { href: codeUrl, word: t('forms.use') },
    isActive && kit.may(ctx, 'createTransaction') && { href: `${href}/try`, word: t('forms.try') },
    (isActive || hasDraft) && { href: `${href}/preview`, word: t('forms.preview') },
  ];
  return acts.filter((each) => each !== false);
}

function endsOf(ctx: Context, kit: RoomKit, { entry, href }: FoundForm) {
  const { t } = kit.reader(ctx);
  const has = (wanted: string) => entry.versions.some(({ status }) => status === wanted);
  const acts = [
    kit.may(ctx, 'updateModel') && { href: `${href}/name`, word: t('forms.rename') },
    { href: `${href}/export`, word: t('forms.export') },
    has('DRAFT') && kit.may(ctx, 'deleteVersion') && { href: `${href}/discard`, word: t('forms.discard') },
    has('ACTIVE') &&
      kit.may(ctx, 'setVersionStatus') && { href: `${href}/archive`, word: t('forms.archive') },
    kit.may(ctx, 'deleteModel') && { href: `${href}/delete`, word: t('forms.delete') },
  ];
  return acts.filter((each) => each !== false);
}

function elementColumns(reader: ConsoleReader): Column<ElementView>[] {
  return [
    {
      label: reader.t('element.name'),
      cell: ({ name, href, problem }) => ({
        text: name,
        ...(href && { href }),
        ...(problem && { note: problem }),
      }),
    },
    { label: reader.t('element.type'), cell: ({ type }) => ({ text: type || '–' }) },
    { label: reader.t('element.reference'), cell: ({ reference }) => ({ code: reference }) },
    { label: reader.t('element.owner'), cell: ({ owner }) => ({ text: owner ?? reader.t('element.own') }) },
  ];
}

function versionColumns(reader: ConsoleReader, href: string): Column<Entry['versions'][number]>[] {
  return [
    {
      label: reader.t('forms.version'),
      cell: ({ id, serial }) => {
        const text = serial ? reader.t('forms.versionNamed', { serial }) : reader.t('forms.draft');
        return { text, href: `${href}/versions/${id}` };
      },
    },
    {
      label: reader.t('forms.status'),
      cell: ({ status }) => ({ state: stateMark(reader, 'entryStatus', status) }),
    },
    {
      label: reader.t('forms.languages'),
      cell: ({ availableLanguages }) => ({ text: availableLanguages.map(reader.languageName).join(', ') }),
    },
    {
      label: reader.t('forms.changed'),
      cell: ({ modificationDate }) => ({ time: reader.time(modificationDate) }),
    },
  ];
}
