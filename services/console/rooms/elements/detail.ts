import type Router from '@koa/router';
import type { Context } from 'koa';
import { endsOf, entryFacts, versionTable } from '../../models/detail.ts';
import { previewView } from '../../models/preview.ts';
import {
  answeredPath,
  type Entry,
  type FoundElement,
  findElement,
  formPath,
  hasVersion,
  isQuestion,
  listEntries,
  newestVersion,
} from '../../models/read-model.ts';
import { actLinks } from '../../pages/acts.ts';
import { shortTable } from '../../pages/columns.ts';
import { withQuery } from '../../pages/filters.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { readPanels } from '../../pages/panel.ts';
import { readAnswers } from './answers.ts';
import { againUrl } from './consequences.ts';
import { hasOrientation } from './preview.ts';

/** An element: facts, preview, versions, forms that use it, what can be done. */
export function detailRoutes(router: Router, kit: RoomKit): void {
  router.get('/:key', async (ctx) => {
    const reader = kit.reader(ctx);
    const found = await findElement(ctx, kit);
    const { entry, href } = found;
    const shown = newestVersion(entry);
    const panels = await readPanels(
      reader,
      {
        uses: readUses(ctx, kit, entry),
        answers: isQuestion(entry.type) ? readAnswers(ctx, kit, found) : Promise.resolve(null),
      },
      { names: ['answers'], href, query: ctx.query },
    );
    await kit.page(ctx, 'detail', {
      title: entry.name,
      doneLink: ctx.query.done === 'elementActivatedMajor' && againLink(ctx, kit, entry),
      answeredUrl: isQuestion(entry.type) && kit.may(ctx, 'extractRecords') && answeredPath(entry.key),
      facts: entryFacts(reader, entry, 'elements'),
      acts: actsOf(ctx, kit, found),
      ends: endsOf(ctx, kit, found, 'elements'),
      preview:
        shown &&
        previewView(ctx, kit, {
          path: href,
          url: `${href}/versions/${shown.id}/page`,
          version: shown,
          orientation: hasOrientation(entry.type) ? 'VERTICAL' : undefined,
        }),
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
  return shortTable(reader, 'elements.uses', {
    rows,
    columns: ({ text, state }) => [
      text('elements.form', ({ name }) => name, { href: ({ key: form }) => formPath(form) }),
      state('elements.status', 'entryStatus', ({ status }) => status),
    ],
  });
}

/** After a major version: where people are asked again. */
function againLink(ctx: Context, kit: RoomKit, entry: FoundElement['entry']) {
  const href = againUrl(ctx, kit, entry);
  return href && { href, word: kit.reader(ctx).t('elements.again') };
}

/** What can be done with the element; the first is the next step. */
function actsOf(ctx: Context, kit: RoomKit, { entry, href }: FoundElement) {
  const hasDraft = hasVersion(entry, 'DRAFT');
  return actLinks(ctx, kit, [
    { href: `${href}/activate`, word: 'elements.activate', operation: 'setVersionStatus', when: hasDraft },
    {
      href: withQuery('/console/forms/new', { element: entry.key }),
      word: 'elements.newForm',
      operation: 'createModel',
      when: entry.status === 'ACTIVE' && isQuestion(entry.type),
    },
    {
      href: withQuery('/console/campaigns/new', { element: entry.key }),
      word: 'elements.again',
      operation: 'createCampaign',
      when: entry.status === 'ACTIVE' && isQuestion(entry.type),
    },
    { href: `${href}/logo`, word: 'logo', operation: 'uploadLogo', when: entry.type === 'theme' },
    { href: `${href}/edit`, word: hasDraft ? 'elements.goOn' : 'elements.edit', operation: 'createVersion' },
  ]);
}
