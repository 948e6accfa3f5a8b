import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { compareContents } from './compare-contents.ts';
import { findElement, findVersion } from './read-element.ts';

/** Activating a draft: what is missing, and what it means for the people who have answered. */
export function activationRoutes(router: Router, kit: RoomKit): void {
  const show = async (ctx: Context, failure?: ApiFailure) => {
    const reader = kit.reader(ctx);
    const { t } = reader;
    if (!kit.may(ctx, 'setVersionStatus')) throw new ApiFailure(403, {});
    const { entry, href } = await findElement(ctx, kit);
    const draft = await findVersion(ctx, kit, entry, 'DRAFT');
    if (!draft) throw new ApiFailure(404, {});
    const isFirst = !entry.versions.some(({ status }) => status === 'ACTIVE');
    const params = { id: entry.id, vid: draft.version.id };
    const [{ body: check }, active, uses, people] = await Promise.all([
      kit.api(ctx).call('checkVersion', { params }),
      findVersion(ctx, kit, entry, 'ACTIVE'),
      isFirst ? [] : readForms(ctx, kit, entry.key),
      isFirst ? 0 : countPeople(ctx, kit, entry.key),
    ]);
    const mayBeMinor = !isFirst && check.minor.allowed;
    const form = kit.form(ctx, {
      action: `${href}/activate`,
      submit: t('elements.activate'),
      cancelUrl: href,
      fields: isFirst
        ? []
        : [
            {
              name: 'type',
              label: t('elements.change'),
              kind: 'radios',
              isRequired: true,
              options: [
                ...(mayBeMinor ? [['MINOR', t('elements.minor', { count: people })] as const] : []),
                ['MAJOR', t('elements.major', { count: people })] as const,
              ],
            },
          ],
      values: { type: mayBeMinor ? draft.version.type : 'MAJOR' },
      failure: failure ?? faultsOf(check.faults),
      hidden: { draft: draft.version.id, etag: draft.etag ?? '' },
    });
    const locals = {
      title: t('elements.activateTitle', { name: entry.name }),
      form,
      isReady: check.faults.length === 0,
      effects: isFirst ? [t('elements.firstEffect')] : [],
      shownIn: [...uses, ...(!isFirst && entry.shared ? [{ text: t('elements.shownByPeers') }] : [])],
      differences: compareContents(reader, entry.type, { before: active?.version, after: draft.version }),
      whyMajor: isFirst || check.minor.allowed ? [] : check.minor.errors.map(({ detail }) => detail),
      editUrl: `${href}/edit`,
    };
    await kit.page(ctx, 'activate', locals, failure?.status);
  };
  router.get('/:key/activate', (ctx) => show(ctx));

  router.post('/:key/activate', async (ctx) => {
    const { draft = [''], etag, type } = kit.posted(ctx);
    const { entry, href } = await findElement(ctx, kit);
    const params = { id: entry.id, vid: draft[0] ?? '' };
    const api = kit.api(ctx);
    try {
      let ifMatch = etag?.[0];
      if (type?.[0]) {
        const changed = await api.call('setVersionType', { params, body: { type: type[0] }, ifMatch });
        ifMatch = changed.etag;
      }
      await api.call('setVersionStatus', { params, body: { status: 'ACTIVE' }, ifMatch });
      kit.open(ctx, href, 'elementActivated');
    } catch (error) {
      if (!(error instanceof ApiFailure) || error.status === 404) throw error;
      await show(ctx, error);
    }
  });
}

function faultsOf(faults: ApiFailure['errors']): ApiFailure | undefined {
  return faults.length > 0 ? new ApiFailure(422, { errors: faults }) : undefined;
}

/** The ACTIVE forms that show the element: the next transaction with one of them has the new version. */
async function readForms(ctx: Context, kit: RoomKit, key: string) {
  const query = { types: 'layout', uses: key, statuses: 'ACTIVE', size: 50 } as object;
  const { body } = await kit.api(ctx).call('listModels', { query });
  return body.values.map(({ name, key: form }) => ({
    text: name,
    href: `/console/forms/${encodeURIComponent(form)}`,
  }));
}

/** People whose newest answer to the element is valid. */
async function countPeople(ctx: Context, kit: RoomKit, key: string): Promise<number> {
  const { body } = await kit.api(ctx).call('countValidAnswers', { query: { keys: key } as never });
  return body.values.find((each) => each.key === key)?.subjects ?? 0;
}
