import type Router from '@koa/router';
import type { Context } from 'koa';
import { lookupLanguage } from '#lib/i18n/match-language.ts';
import { endsOf, versionTable } from '../../models/detail.ts';
import {
  type Entry,
  type FoundElement,
  findElement,
  listEntries,
  newestVersion,
} from '../../models/read-model.ts';
import { columnsFor, factsView } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { withQuery } from '../../pages/filters.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { readPanels } from '../../pages/panel.ts';
import { stateMark } from '../../pages/states.ts';
import { tableView } from '../../pages/table.ts';
import { isAnswered, readAnswers } from './answers.ts';

/** An element: facts, preview, versions, forms that use it, what can be done. */
export function detailRoutes(router: Router, kit: RoomKit): void {
  router.get('/:key', async (ctx) => {
    const reader = kit.reader(ctx);
    const found = await findElement(ctx, kit);
    const { entry, href } = found;
    const shown = newestVersion(entry);
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
      ends: endsOf(ctx, kit, found, 'elements'),
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
      versions: versionTable(reader, entry, {
        words: 'elements',
        hrefTo: (vid) => `${href}/versions/${vid}/changes`,
      }),
      ...panels,
    });
  });
}

async function readUses(ctx: Context, kit: RoomKit, { key }: Entry) {
  const reader = kit.reader(ctx);
  const rows = await listEntries(kit.api(ctx), { types: 'layout', uses: key });
  const { text, state } = columnsFor<Entry>(reader);
  const columns = [
    text('elements.form', ({ name }) => name, {
      href: (form) => `/console/forms/${encodeURIComponent(form.key)}`,
    }),
    state('elements.status', 'entryStatus', ({ status }) => status),
  ];
  return tableView(reader, { caption: reader.t('elements.uses'), rows, columns });
}

function factsOf(reader: ConsoleReader, entry: Entry) {
  const { status, type, key, versions, shared, description, modificationDate } = entry;
  const active = versions.find((each) => each.status === 'ACTIVE');
  return factsView(reader, {
    'elements.status': { state: stateMark(reader, 'entryStatus', status) },
    'elements.type': { text: reader.word('elementType', type) },
    'elements.key': { code: key },
    'elements.version': active && { code: active.serial ?? '' },
    'elements.isShared': { text: reader.t(shared ? 'elements.yes' : 'elements.no') },
    'elements.description': description && { text: description },
    'elements.changed': { time: reader.time(modificationDate) },
  });
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
