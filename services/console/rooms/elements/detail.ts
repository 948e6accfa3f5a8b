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
import { readPanels } from '../../pages/panel.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { readAnswers } from './answers.ts';
import { againUrl } from './consequences.ts';
import { hasOrientation } from './preview.ts';

/** An element: facts, preview, versions, forms that use it, what can be done. */
export function detailRoutes(router: Router, tools: RoomTools): void {
  router.get('/:key', async (ctx) => {
    const reader = tools.reader(ctx);
    const found = await findElement(ctx, tools);
    const { entry, href } = found;
    const shown = newestVersion(entry);
    const panels = await readPanels(
      reader,
      {
        uses: readUses(ctx, tools, entry),
        answers: isQuestion(entry.type) ? readAnswers(ctx, tools, found) : Promise.resolve(null),
      },
      { names: ['answers'], href, query: ctx.query },
    );
    await tools.page(ctx, 'detail', {
      title: entry.name,
      doneLink: ctx.query.done === 'elementActivatedMajor' && againLink(ctx, tools, entry),
      answeredUrl: isQuestion(entry.type) && tools.may(ctx, 'extractRecords') && answeredPath(entry.key),
      facts: entryFacts(reader, entry, 'elements'),
      acts: actsOf(ctx, tools, found),
      ends: endsOf(ctx, tools, found, 'elements'),
      preview:
        shown &&
        previewView(ctx, tools, {
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

async function readUses(ctx: Context, tools: RoomTools, { key }: Entry) {
  const reader = tools.reader(ctx);
  const rows = await listEntries(tools.api(ctx), { types: 'layout', uses: key });
  return shortTable(reader, 'elements.uses', {
    rows,
    columns: ({ text, state }) => [
      text('elements.form', ({ name }) => name, { href: ({ key: form }) => formPath(form) }),
      state('elements.status', 'entryStatus', ({ status }) => status),
    ],
  });
}

/** After a major version: where people are asked again. */
function againLink(ctx: Context, tools: RoomTools, entry: FoundElement['entry']) {
  const href = againUrl(ctx, tools, entry);
  return href && { href, word: tools.reader(ctx).t('elements.again') };
}

/** What can be done with the element; the first is the next step. */
function actsOf(ctx: Context, tools: RoomTools, { entry, href }: FoundElement) {
  const hasDraft = hasVersion(entry, 'DRAFT');
  return actLinks(ctx, tools, [
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
