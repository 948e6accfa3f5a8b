import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import type { Schemas } from '../../api/api-types.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { fieldsFor } from '../../pages/form.ts';
import { fieldReader, orShowAgain } from '../../pages/form-page.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { nameOf } from '../../people/subject-path.ts';
import { countData } from './erasure.ts';

type Erasure = Schemas['Erasure'];

/** The end of a hold: an erasure that waits for it goes on at once, or is refused before. */
export function releaseRoutes(router: Router, tools: RoomTools): void {
  const show = async (ctx: Context, failure?: ApiFailure) => {
    tools.require(ctx, 'endHold');
    const reader = tools.reader(ctx);
    const { t } = reader;
    const { name, href } = nameOf(ctx, tools);
    const held = await listHeld(ctx, tools, name);
    const isWaiting = held.length > 0;
    const forms = { cancelUrl: href, action: ctx.path };
    await tools.page(
      ctx,
      'release',
      {
        title: t('hold.endTitle', { name }),
        effects: [t('hold.endEffect'), ...(await waitingTexts(ctx, tools, held, name))],
        end: tools.form(ctx, {
          ...forms,
          submit: t(isWaiting ? 'hold.endAndErase' : 'hold.end'),
          tone: isWaiting ? 'ending' : 'primary',
          hidden: { held: held.map(({ id }) => id).join(' ') },
          ...(!isWaiting && { failure }),
        }),
        refuse:
          isWaiting &&
          tools.form(ctx, {
            ...forms,
            submit: t('hold.endAndRefuse'),
            tone: 'plain',
            fields: [
              fieldsFor(reader, 'erase')('ground', {
                label: t('erasure.ground'),
                hint: t('erasure.groundHint'),
                kind: 'textarea',
                maxLength: 1_000,
                isRequired: true,
              }),
            ],
            values: failure && tools.posted(ctx),
            hidden: { act: 'refuse' },
            failure,
          }),
      },
      failure?.status,
    );
  };
  router.get('/:s/release', (ctx) => show(ctx));
  router.post(
    '/:s/release',
    orShowAgain(show, async (ctx) => {
      const field = fieldReader(ctx, tools);
      const { name, href } = nameOf(ctx, tools);
      const api = tools.api(ctx);
      const held = await listHeld(ctx, tools, name);
      if (field('act') === 'refuse') {
        const body = { status: 'REFUSED' as const, ground: field('ground') };
        for (const { id } of held) await api.call('decideErasure', { params: { erasure: id }, body });
        await api.call('endHold', { params: { name } });
        return tools.open(ctx, href, 'holdEndedRefused');
      }
      // The page has named the erasures that go on: another one is shown first.
      if (held.some(({ id }) => !field('held').split(' ').includes(id)))
        throw new ApiFailure(409, { type: '/docs/problems/precondition-failed' });
      await api.call('endHold', { params: { name } });
      if (held.length === 0) return tools.open(ctx, href, 'holdEnded');
      tools.open(ctx, `${tools.path}/erasures`, 'holdEndedErasing');
    }),
  );
}

/** The erasures of a person that wait for the end of the hold. */
async function listHeld(ctx: Context, tools: RoomTools, name: string): Promise<Erasure[]> {
  const { body } = await tools.api(ctx).call('listErasures', { query: { subject: name, limit: 200 } });
  return body.filter(({ state }) => state === 'HELD');
}

/** Says which erasures wait, and what they delete. A peer's erasure concerns only what the peer has sent. */
async function waitingTexts(
  ctx: Context,
  tools: RoomTools,
  held: readonly Erasure[],
  name: string,
): Promise<string[]> {
  if (held.length === 0) return [];
  const reader: ConsoleReader = tools.reader(ctx);
  const counts = await countData(ctx, tools, name);
  return held.map(({ created, peer }) => {
    const date = reader.date(created);
    return peer
      ? reader.t('hold.peerErasureWaits', { date, peer })
      : reader.t('hold.erasureWaits', { date, ...counts });
  });
}
