import type Router from '@koa/router';
import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { sendCsv } from '../../pages/csv-export.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { type Column, tableView } from '../../pages/table.ts';
import { placesOf } from './places.ts';

type Key = components['schemas']['Key'];

/** API keys: list, generate, revoke. */
export function keyRoutes(router: Router, kit: RoomKit): void {
  const path = `${kit.path}/security`;

  router.get('/security', async (ctx) => {
    const reader = kit.reader(ctx);
    const columns = columnsOf(reader, path);
    const read = async (cursor?: string) => {
      const { body, next } = await kit.api(ctx).call('listKeys', { query: { cursor } });
      return { rows: body, next };
    };
    if (ctx.query.format === 'csv') return sendCsv(ctx, 'api-keys', columns, read);
    const cursor = kit.cursor(ctx);
    const caption = reader.t('keys.title');
    await kit.page(ctx, 'keys', {
      title: caption,
      places: placesOf(ctx, kit),
      newUrl: kit.may(ctx, 'createKey') && `${path}/new`,
      table: tableView(reader, { caption, columns, path, cursor, ...(await read(cursor)) }),
    });
  });

  const showNew = async (ctx: Context, failure?: ApiFailure) => {
    if (!kit.may(ctx, 'createKey')) throw new ApiFailure(403, {});
    const reader = kit.reader(ctx);
    const form = kit.form(ctx, {
      action: `${path}/new`,
      submit: reader.t('keys.generate'),
      cancelUrl: path,
      fields: [
        {
          name: 'name',
          label: reader.t('keys.name'),
          hint: reader.t('keys.nameHint'),
          isRequired: true,
          maxLength: 255,
        },
        {
          name: 'scope',
          label: reader.t('keys.scope'),
          kind: 'radios',
          isRequired: true,
          options: ['OWNER', 'DECISION', 'PEER'].map(
            (scope) => [scope, reader.t(`keys.scopeText.${scope}`)] as const,
          ),
        },
        { name: 'elements', label: reader.t('keys.elements'), hint: reader.t('keys.elementsHint') },
      ],
      values: failure ? kit.posted(ctx) : { scope: 'OWNER' },
      failure,
      once: kit.once.make(),
    });
    await kit.page(
      ctx,
      'new',
      { title: reader.t('keys.new'), places: placesOf(ctx, kit), form },
      failure?.status,
    );
  };
  router.get('/security/new', (ctx) => showNew(ctx));

  router.post('/security/new', async (ctx) => {
    const reader = kit.reader(ctx);
    const { name = [''], scope = ['OWNER'], elements = [''], once } = kit.posted(ctx);
    const keys = (elements[0] ?? '').split(/[\s,،]+/).filter(Boolean);
    try {
      const result = await kit.once.run(once?.[0], () =>
        kit.api(ctx).call('createKey', {
          body: { name: name[0] ?? '', scope: scope[0] ?? '', ...(keys.length > 0 && { elements: keys }) },
        }),
      );
      if (result === 'repeated') return kit.open(ctx, path, 'repeated');
      const made = result.made.body;
      await kit.secret(ctx, {
        title: reader.t('keys.made'),
        text: reader.t(`keys.madeText.${made.scope}`),
        label: reader.t('keys.key'),
        value: made.key,
        more:
          made.scope === 'PEER'
            ? []
            : [{ label: reader.t('keys.line'), value: exampleLine(kit.baseUrl, made) }],
        next: { href: path, word: reader.t('keys.back') },
      });
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      await showNew(ctx, error);
    }
  });

  router.get('/security/:id/revoke', async (ctx) => {
    const reader = kit.reader(ctx);
    const key = await findKey(ctx, kit, String(ctx.params.id));
    const used = key.lastAccessDate
      ? reader.t('keys.lastUsed', { time: reader.dateTime(new Date(key.lastAccessDate).toISOString()) })
      : reader.t('keys.neverUsed');
    await kit.confirm(ctx, {
      title: reader.t('keys.revokeTitle', { name: key.name }),
      effects: [used, reader.t('keys.revokeText')],
      form: kit.form(ctx, {
        action: `${path}/${key.id}/revoke`,
        submit: reader.t('keys.revoke'),
        tone: 'ending',
        cancelUrl: path,
        fields: [],
      }),
    });
  });

  router.post('/security/:id/revoke', async (ctx) => {
    await kit.api(ctx).call('revokeKey', { params: { id: String(ctx.params.id) } });
    kit.open(ctx, path, 'keyRevoked');
  });
}

function columnsOf(reader: ConsoleReader, path: string): Column<Key>[] {
  return [
    { label: reader.t('keys.name'), cell: ({ name }) => ({ text: name }), csv: ({ name }) => name },
    {
      label: reader.t('keys.scope'),
      cell: ({ scope }) => ({ text: reader.t(`keys.scopeName.${scope}`) }),
      csv: ({ scope }) => scope,
    },
    {
      label: reader.t('keys.created'),
      cell: ({ creationDate }) => ({ time: reader.time(creationDate) }),
      csv: ({ creationDate }) => new Date(creationDate).toISOString(),
    },
    {
      label: reader.t('keys.used'),
      cell: ({ lastAccessDate }) =>
        lastAccessDate ? { time: reader.time(lastAccessDate) } : { text: reader.t('keys.never') },
      csv: ({ lastAccessDate }) => (lastAccessDate ? new Date(lastAccessDate).toISOString() : ''),
    },
    {
      label: reader.t('keys.act'),
      cell: ({ id }) => ({ text: reader.t('keys.revoke'), href: `${path}/${id}/revoke` }),
    },
  ];
}

/** @throws ApiFailure 404 for a key that was revoked meanwhile. */
async function findKey(ctx: Context, kit: RoomKit, id: string): Promise<Key> {
  for (let cursor: string | undefined; ; ) {
    const { body, next } = await kit.api(ctx).call('listKeys', { query: { cursor, limit: 200 } });
    const found = body.find((key) => key.id === id);
    if (found) return found;
    if (!next) throw new ApiFailure(404, {});
    cursor = next;
  }
}

type NewKey = components['schemas']['CreatedKey'];

/** A first call with the key. */
function exampleLine(baseUrl: string, { scope, elements: [element] = ['processing.001'] }: NewKey): string {
  if (scope !== 'DECISION') return `curl -s ${baseUrl}/user -H "CM_KEY: $ACCORD_KEY"`;
  const body = JSON.stringify({ subject: 'jane.doe@example.org', questions: [{ element }] });
  return `curl -s ${baseUrl}/decisions -H "CM_KEY: $ACCORD_KEY" -H 'Content-Type: application/json' -d '${body}'`;
}
