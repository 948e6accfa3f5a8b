import type Router from '@koa/router';
import { ApiFailure } from '../api/api-failure.ts';
import { compareChanges } from '../pages/text-diff.ts';
import type { RoomTools } from '../pages/tools.ts';
import type { ModelRoom } from './model-room.ts';
import type { Entry } from './read-model.ts';

type Summary = Entry['versions'][number];

/** A page of a version: what differs from the one before, or from another that is chosen. */
export function changeRoutes<Type extends Entry['type']>(
  router: Router,
  tools: RoomTools,
  room: ModelRoom<Type>,
): void {
  router.get('/:key/versions/:vid/changes', async (ctx) => {
    const reader = tools.reader(ctx);
    const { t } = reader;
    const { entry, href } = await room.find(ctx, tools);
    const index = entry.versions.findIndex(({ id }) => id === ctx.params.vid);
    const shown = entry.versions[index];
    if (!shown) throw new ApiFailure(404, {});
    const nameOf = ({ serial, status }: Summary) =>
      serial ? `${serial} – ${reader.word('entryStatus', status)}` : t('changes.draft');
    const path = `${href}/versions/${shown.id}/changes`;
    const others = entry.versions.filter(({ id }) => id !== shown.id);
    const filters = tools.filters(ctx, path, [
      {
        name: 'to',
        kind: 'choice',
        label: t('changes.to'),
        options: [['', t('changes.former')], ...others.map((each) => [each.id, nameOf(each)] as const)],
      },
    ]);
    const { to = entry.versions[index + 1]?.id } = filters.values;
    const read = async (vid: string) =>
      (await tools.api(ctx).call('getVersion', { params: { id: entry.id, vid } })).body;
    const [after, before] = await Promise.all([read(shown.id), to === undefined ? undefined : read(to)]);
    await tools.page(ctx, 'changes', {
      title: shown.serial
        ? t('changes.title', { name: entry.name, version: shown.serial })
        : t('changes.titleDraft', { name: entry.name }),
      text: before ? t('changes.text', { version: before.serial ?? t('changes.draft') }) : t('changes.first'),
      path,
      filters,
      differences: await compareChanges(
        await room.compare(ctx, tools, entry, { before, after }),
        reader.language,
      ),
      backUrl: href,
    });
  });
}
