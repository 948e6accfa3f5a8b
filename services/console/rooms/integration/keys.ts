import type Router from '@koa/router';
import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import { columnsFor } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { fieldsFor } from '../../pages/form.ts';
import { formPage } from '../../pages/form-page.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { findRow, rowsOf, sendList } from '../../pages/list-page.ts';
import type { Column } from '../../pages/table.ts';

type Key = components['schemas']['Key'];

/** API keys: list, generate, revoke. */
export function keyRoutes(router: Router, kit: RoomKit): void {
  const path = `${kit.path}/security`;

  router.get('/security', (ctx) => {
    const reader = kit.reader(ctx);
    return sendList(ctx, kit, {
      view: 'keys',
      title: reader.t('keys.title'),
      path,
      columns: columnsOf(reader, path),
      read: (cursor) => rowsOf(kit.api(ctx).call('listKeys', { query: { cursor } })),
      csv: 'api-keys',
      locals: { newUrl: kit.may(ctx, 'createKey') && `${path}/new` },
    });
  });

  formPage(router, kit, {
    path: '/security/new',
    operation: 'createKey',
    view: 'form',
    isCreating: true,
    ask(_, reader) {
      const { t } = reader;
      const field = fieldsFor(reader, 'keys');
      const scopes = ['OWNER', 'DECISION', 'PEER'].map(
        (each) => [each, t(`keys.scopeText.${each}`)] as const,
      );
      return {
        title: t('keys.new'),
        submit: t('keys.generate'),
        cancelUrl: path,
        fields: [
          field('name', { isRequired: true, maxLength: 255 }),
          field('scope', { kind: 'radios', isRequired: true, options: scopes }),
          field('elements'),
        ],
        values: { scope: 'OWNER' },
      };
    },
    send(ctx, field) {
      const elements = field('elements')
        .split(/[\s,،]+/)
        .filter(Boolean);
      const body = { name: field('name'), scope: field('scope'), ...(elements.length > 0 && { elements }) };
      return kit.api(ctx).call('createKey', { body });
    },
    done(ctx, { body: made }) {
      const { t } = kit.reader(ctx);
      const line = { label: t('keys.line'), value: exampleLine(kit.baseUrl, made) };
      return kit.secret(ctx, {
        title: t('keys.made'),
        text: t(`keys.madeText.${made.scope}`),
        label: t('keys.key'),
        value: made.key,
        more: made.scope === 'PEER' ? [] : [line],
        next: { href: path, word: t('keys.back') },
      });
    },
  });

  formPage(router, kit, {
    path: '/security/:id/revoke',
    async ask(ctx, { t, dateTime }) {
      const { name, lastAccessDate: used } = await findKey(ctx, kit);
      const lastUse = used
        ? t('keys.lastUsed', { time: dateTime(new Date(used).toISOString()) })
        : t('keys.neverUsed');
      return {
        title: t('keys.revokeTitle', { name }),
        effects: [lastUse, t('keys.revokeText')],
        submit: t('keys.revoke'),
        tone: 'ending',
        cancelUrl: path,
      };
    },
    send: (ctx) => kit.api(ctx).call('revokeKey', { params: { id: String(ctx.params.id) } }),
    done: (ctx) => kit.open(ctx, path, 'keyRevoked'),
  });
}

function columnsOf(reader: ConsoleReader, path: string): Column<Key>[] {
  const { text, word, time } = columnsFor<Key>(reader);
  return [
    text('keys.name', ({ name }) => name),
    word('keys.scope', 'keys.scopeName', ({ scope }) => scope),
    time('keys.created', ({ creationDate }) => creationDate),
    time('keys.used', ({ lastAccessDate }) => lastAccessDate, reader.t('keys.never')),
    {
      label: reader.t('keys.act'),
      cell: ({ id }) => ({ text: reader.t('keys.revoke'), href: `${path}/${id}/revoke` }),
    },
  ];
}

/** @throws ApiFailure 404 for a key that was revoked meanwhile. */
async function findKey(ctx: Context, kit: RoomKit): Promise<Key> {
  const found = await findRow(
    (cursor) => rowsOf(kit.api(ctx).call('listKeys', { query: { cursor, limit: 200 } })),
    ({ id }) => id === ctx.params.id,
  );
  if (!found) throw new ApiFailure(404, {});
  return found;
}

type NewKey = components['schemas']['CreatedKey'];

/** A first call with the key. */
function exampleLine(baseUrl: string, { scope, elements: [element] = ['processing.001'] }: NewKey): string {
  if (scope !== 'DECISION') return `curl -s ${baseUrl}/user -H "CM_KEY: $ACCORD_KEY"`;
  const body = JSON.stringify({ subject: 'jane.doe@example.org', questions: [{ element }] });
  return `curl -s ${baseUrl}/decisions -H "CM_KEY: $ACCORD_KEY" -H 'Content-Type: application/json' -d '${body}'`;
}
