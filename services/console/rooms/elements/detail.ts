import type Router from '@koa/router';
import type { Context } from 'koa';
import { lookupLanguage } from '#lib/i18n/match-language.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { withQuery } from '../../pages/filters.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { readPanels } from '../../pages/panel.ts';
import { stateMark } from '../../pages/states.ts';
import { type Column, tableView } from '../../pages/table.ts';
import { isAnswered, readAnswers } from './answers.ts';
import { type Entry, type FoundElement, findElement } from './read-element.ts';

type Summary = Entry['versions'][number];

/** An element: facts, preview, versions, forms that use it, what can be done. */
export function detailRoutes(router: Router, kit: RoomKit): void {
  router.get('/:key', async (ctx) => {
    const reader = kit.reader(ctx);
    const found = await findElement(ctx, kit);
    const { entry, href } = found;
    const shown = newest(entry);
    const languages = shown?.availableLanguages ?? [];
    const language =
      [ctx.query.language].flat()[0] ?? lookupLanguage([reader.language], languages) ?? languages[0];
    const panels = await readPanels(reader, {
      uses: readUses(ctx, kit, entry),
      answers: isAnswered(entry.type) ? readAnswers(ctx, kit, found) : Promise.resolve(null),
    });
    await kit.page(ctx, 'detail', {
      title: entry.name,
      facts: factsOf(reader, entry),
      acts: actsOf(ctx, kit, found),
      ends: endsOf(ctx, kit, found),
      frame: shown &&
        language && {
          url: withQuery(`${href}/versions/${shown.id}/page`, { language }),
          title: reader.t('elements.preview'),
        },
      languages: languages.map((each) => ({
        href: withQuery(href, { language: each }),
        word: reader.languageName(each),
        isCurrent: each === language,
      })),
      versions: tableView(reader, {
        caption: reader.t('elements.versions'),
        columns: versionColumns(reader, href),
        rows: entry.versions,
        path: href,
      }),
      ...panels,
    });
  });

  router.get('/:key/export', async (ctx) => {
    const { entry } = await findElement(ctx, kit);
    const { body } = await kit.api(ctx).call('exportModel', { params: { id: entry.id } });
    ctx.type = 'application/json; charset=utf-8';
    ctx.set('Content-Disposition', `attachment; filename="${entry.key}.json"`);
    ctx.body = `${JSON.stringify(body, null, 2)}\n`;
  });

  const showName = async (ctx: Context, failure?: ApiFailure) => {
    const { t } = kit.reader(ctx);
    if (!kit.may(ctx, 'updateModel')) throw new ApiFailure(403, {});
    const { entry, etag, href } = await findElement(ctx, kit);
    const { name, description, shared } = entry;
    const form = kit.form(ctx, {
      action: `${href}/name`,
      submit: t('elements.save'),
      cancelUrl: href,
      fields: [
        { name: 'name', label: t('elements.name'), isRequired: true, maxLength: 255 },
        { name: 'description', label: t('elements.description'), kind: 'textarea', maxLength: 20_000 },
        { name: 'shared', label: t('elements.shared'), kind: 'check' },
        ...(entry.type === 'information'
          ? [{ name: 'default', label: t('elements.default'), kind: 'check' as const }]
          : []),
      ],
      values: failure
        ? kit.posted(ctx)
        : { name, description, shared: shared ? 'yes' : '', default: entry.default ? 'yes' : '' },
      failure,
      hidden: { etag: etag ?? '' },
    });
    await kit.page(ctx, 'new', { title: t('elements.nameTitle', { name }), form }, failure?.status);
  };
  router.get('/:key/name', (ctx) => showName(ctx));

  router.post('/:key/name', async (ctx) => {
    const { name = [''], description = [''], shared, default: isDefault, etag } = kit.posted(ctx);
    const { entry, href } = await findElement(ctx, kit);
    try {
      const body = {
        name: name[0]?.trim() ?? '',
        description: description[0]?.trim() ?? '',
        shared: shared?.[0] === 'yes',
        ...(entry.type === 'information' && { default: isDefault?.[0] === 'yes' }),
      };
      await kit.api(ctx).call('updateModel', { params: { id: entry.id }, body, ifMatch: etag?.[0] });
      kit.open(ctx, href, 'elementChanged');
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      await showName(ctx, error);
    }
  });
}

/** The version that the page shows: the draft, else the active one, else the newest. */
function newest({ versions }: Entry): Summary | undefined {
  const of = (wanted: string) => versions.find(({ status }) => status === wanted);
  return of('DRAFT') ?? of('ACTIVE') ?? versions[0];
}

async function readUses(ctx: Context, kit: RoomKit, { key }: Entry) {
  const reader = kit.reader(ctx);
  const query = { types: 'layout', uses: key, size: 50 } as object;
  const { body } = await kit.api(ctx).call('listModels', { query });
  return tableView(reader, {
    caption: reader.t('elements.uses'),
    path: '',
    rows: body.values,
    columns: [
      {
        label: reader.t('elements.form'),
        cell: ({ name, key: form }) => ({ text: name, href: `/console/forms/${encodeURIComponent(form)}` }),
      },
      {
        label: reader.t('elements.status'),
        cell: ({ status }) => ({ state: stateMark(reader, 'entryStatus', status) }),
      },
    ],
  });
}

function factsOf(reader: ConsoleReader, entry: Entry) {
  const { t } = reader;
  const active = entry.versions.find(({ status }) => status === 'ACTIVE');
  return [
    { label: t('elements.status'), cell: { state: stateMark(reader, 'entryStatus', entry.status) } },
    { label: t('elements.type'), cell: { text: reader.word('elementType', entry.type) } },
    { label: t('elements.key'), cell: { code: entry.key } },
    ...(active ? [{ label: t('elements.version'), cell: { code: active.serial ?? '' } }] : []),
    { label: t('elements.isShared'), cell: { text: t(entry.shared ? 'elements.yes' : 'elements.no') } },
    ...(entry.description ? [{ label: t('elements.description'), cell: { text: entry.description } }] : []),
    { label: t('elements.changed'), cell: { time: reader.time(entry.modificationDate) } },
  ];
}

/** Whether forms can ask the element. */
function isQuestion({ type, status }: Entry): boolean {
  return status === 'ACTIVE' && ['processing', 'preference', 'conditions'].includes(type);
}

/** What can be done with the element; the first is the next step. */
function actsOf(ctx: Context, kit: RoomKit, { entry, href }: FoundElement) {
  const { t } = kit.reader(ctx);
  const hasDraft = entry.versions.some(({ status }) => status === 'DRAFT');
  const acts = [
    hasDraft &&
      kit.may(ctx, 'setVersionStatus') && { href: `${href}/activate`, word: t('elements.activate') },
    isQuestion(entry) &&
      kit.may(ctx, 'createModel') && {
        href: '/console/forms/new',
        word: t('elements.newForm'),
        // Creates the form, with the name of the element, in one post.
        posted: { once: kit.once.make(), name: entry.name, element: entry.key },
      },
    kit.may(ctx, 'createVersion') && {
      href: `${href}/edit`,
      word: t(hasDraft ? 'elements.goOn' : 'elements.edit'),
    },
  ];
  return acts.filter((each) => each !== false);
}

function endsOf(ctx: Context, kit: RoomKit, { entry, href }: FoundElement) {
  const { t } = kit.reader(ctx);
  const has = (wanted: string) => entry.versions.some(({ status }) => status === wanted);
  const acts = [
    kit.may(ctx, 'updateModel') && { href: `${href}/name`, word: t('elements.rename') },
    { href: `${href}/export`, word: t('elements.export') },
    has('DRAFT') && kit.may(ctx, 'deleteVersion') && { href: `${href}/discard`, word: t('elements.discard') },
    has('ACTIVE') &&
      kit.may(ctx, 'setVersionStatus') && { href: `${href}/archive`, word: t('elements.archive') },
    kit.may(ctx, 'deleteModel') && { href: `${href}/delete`, word: t('elements.delete') },
  ];
  return acts.filter((each) => each !== false);
}

function versionColumns(reader: ConsoleReader, href: string): Column<Summary>[] {
  return [
    {
      label: reader.t('elements.version'),
      cell: ({ id, serial }) => {
        const page = { href: `${href}/versions/${id}/changes` };
        return serial ? { code: serial, ...page } : { text: reader.t('elements.draft'), ...page };
      },
    },
    {
      label: reader.t('elements.status'),
      cell: ({ status }) => ({ state: stateMark(reader, 'entryStatus', status) }),
    },
    {
      label: reader.t('elements.languages'),
      cell: ({ availableLanguages }) => ({ text: availableLanguages.map(reader.languageName).join(', ') }),
    },
    {
      label: reader.t('elements.changed'),
      cell: ({ modificationDate }) => ({ time: reader.time(modificationDate) }),
    },
  ];
}
