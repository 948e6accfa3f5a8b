import type Router from '@koa/router';
import type { Context } from 'koa';
import { endsOf, versionTable } from '../../models/detail.ts';
import { type Entry, type FoundForm, findForm, findVersion } from '../../models/read-model.ts';
import { columnsFor, factsView } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { withQuery } from '../../pages/filters.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { stateMark } from '../../pages/states.ts';
import { tableView } from '../../pages/table.ts';
import { type ElementView, readNamed } from './elements.ts';
import { layoutOf } from './layout-values.ts';

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
    await kit.page(ctx, 'detail', {
      title: entry.name,
      facts: factsOf(reader, entry),
      description: entry.description ?? '',
      acts: actsOf(ctx, kit, form),
      ends: endsOf(ctx, kit, form, 'forms'),
      elements: elementTable(reader, elements),
      versions: versionTable(reader, entry, { words: 'forms', hrefTo: (vid) => `${href}/versions/${vid}` }),
    });
  });
}

function factsOf(reader: ConsoleReader, entry: Entry) {
  const { status, key, versions, availableLanguages: languages, creationDate, modificationDate } = entry;
  const active = versions.find((each) => each.status === 'ACTIVE');
  return factsView(reader, {
    'forms.status': { state: stateMark(reader, 'entryStatus', status) },
    'forms.key': { code: key },
    'forms.version': active && { code: active.serial ?? '' },
    'forms.languages': { text: languages.map(reader.languageName).join(', ') || '–' },
    'forms.created': { time: reader.time(creationDate) },
    'forms.changed': { time: reader.time(modificationDate) },
  });
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

function elementTable(reader: ConsoleReader, rows: readonly ElementView[]) {
  const { text, code } = columnsFor<ElementView>(reader);
  const columns = [
    text('element.name', ({ name }) => name, { href: ({ href }) => href, note: ({ problem }) => problem }),
    text('element.type', ({ type }) => type),
    code('element.reference', ({ reference }) => reference),
    text('element.owner', ({ owner }) => owner ?? reader.t('element.own')),
  ];
  return tableView(reader, { caption: reader.t('designer.elements'), rows, columns });
}
