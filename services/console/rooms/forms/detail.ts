import type Router from '@koa/router';
import type { Context } from 'koa';
import { endsOf, entryFacts, versionTable } from '../../models/detail.ts';
import { answeredPath, type FoundForm, findForm, findVersion, hasVersion } from '../../models/read-model.ts';
import { actLinks } from '../../pages/acts.ts';
import { shortTable } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { withQuery } from '../../pages/filters.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { type ElementView, readNamed } from './elements.ts';
import { layoutOf } from './layout-values.ts';

/** A form: facts, elements, versions, what can be done; its name and description. */
export function detailRoutes(router: Router, tools: RoomTools): void {
  router.get('/:key', async (ctx) => {
    const reader = tools.reader(ctx);
    const form = await findForm(ctx, tools);
    const { entry, href } = form;
    const shown =
      (await findVersion(ctx, tools, entry, 'ACTIVE')) ?? (await findVersion(ctx, tools, entry, 'DRAFT'));
    const layout = shown && layoutOf(shown.version);
    const elements = layout ? await readNamed(ctx, tools, layout.elements) : [];
    await tools.page(ctx, 'detail', {
      title: entry.name,
      facts: entryFacts(reader, entry, 'forms'),
      acts: actsOf(ctx, tools, form),
      ends: endsOf(ctx, tools, form, 'forms'),
      elements: elementTable(reader, elements, tools.may(ctx, 'extractRecords')),
      versions: versionTable(reader, entry, { words: 'forms', hrefTo: (vid) => `${href}/versions/${vid}` }),
    });
  });
}

/** What can be done with the form; the first is the next step. */
function actsOf(ctx: Context, tools: RoomTools, { entry, href }: FoundForm) {
  const [isActive, hasDraft] = [hasVersion(entry, 'ACTIVE'), hasVersion(entry, 'DRAFT')];
  const codeUrl = withQuery('/console/integration/code', { form: entry.key });
  return actLinks(ctx, tools, [
    { href: `${href}/activate`, word: 'forms.activate', operation: 'setVersionStatus', when: hasDraft },
    { href: `${href}/edit`, word: hasDraft ? 'forms.goOn' : 'forms.design', operation: 'createVersion' },
    {
      href: withQuery('/console/subjects', { form: entry.key }),
      word: 'forms.send',
      operation: 'createTransaction',
      when: isActive,
    },
    {
      href: withQuery('/console/campaigns/new', { form: entry.key }),
      word: 'forms.again',
      operation: 'createCampaign',
      when: isActive,
    },
    { href: `${href}/address`, word: 'forms.address', when: isActive },
    { href: `${href}/try`, word: 'forms.try', operation: 'createTransaction', when: isActive },
    { href: `${href}/preview`, word: 'forms.preview', when: isActive || hasDraft },
    { href: codeUrl, word: 'forms.use', when: isActive },
  ]);
}

function elementTable(reader: ConsoleReader, rows: readonly ElementView[], hasPeople: boolean) {
  return shortTable(reader, 'designer.elements', {
    file: 'elements',
    rows,
    columns: ({ text, code, link }) => [
      text('element.name', ({ name }) => name, { href: ({ href }) => href, note: ({ problem }) => problem }),
      text('element.type', ({ type }) => type),
      code('element.reference', ({ reference }) => reference),
      text('element.owner', ({ owner }) => owner ?? reader.t('element.own')),
      ...(hasPeople
        ? [
            link('answered.column', 'answered.link', ({ reference, owner }) =>
              owner === undefined ? answeredPath(reference) : undefined,
            ),
          ]
        : []),
    ],
  });
}
