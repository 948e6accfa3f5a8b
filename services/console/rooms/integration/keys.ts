import type Router from '@koa/router';
import type { Schemas } from '../../api/api-types.ts';
import { fieldsFor, keysIn, wordChoices } from '../../pages/form.ts';
import { actPage } from '../../pages/form-page.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { listRoute, rowOfPath } from '../../pages/list-page.ts';

/** API keys: list, generate, revoke. */
export function keyRoutes(router: Router, kit: RoomKit): void {
  const path = `${kit.path}/security`;

  listRoute(router, kit, {
    path: '/security',
    operation: 'listKeys',
    words: 'keys',
    columns: ({ text, word, time, link }, reader) => [
      text('keys.name', ({ name }) => name),
      word('keys.scope', 'keys.scopeName', ({ scope }) => scope),
      time('keys.created', ({ creationDate }) => creationDate),
      time('keys.used', ({ lastAccessDate }) => lastAccessDate, reader.t('keys.never')),
      link('keys.act', 'keys.revoke', ({ id }) => `${path}/${id}/revoke`),
    ],
    creates: 'createKey',
  });

  actPage(router, kit, {
    path: '/security/new',
    operation: 'createKey',
    view: 'form',
    isCreating: true,
    ask(_, reader) {
      const { t } = reader;
      const field = fieldsFor(reader, 'keys');
      const scopes = wordChoices(reader, 'keys.scopeText', ['OWNER', 'DECISION', 'PEER']);
      return {
        title: t('keys.new'),
        submit: t('keys.generate'),
        fields: [
          field('name', { isRequired: true, maxLength: 255 }),
          field('scope', { kind: 'radios', isRequired: true, options: scopes }),
          field('elements'),
        ],
        values: { scope: 'OWNER' },
      };
    },
    body(field) {
      const elements = keysIn(field('elements'));
      return { name: field('name'), scope: field('scope'), ...(elements.length > 0 && { elements }) };
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

  actPage(router, kit, {
    path: '/security/:id/revoke',
    operation: 'revokeKey',
    words: 'keys.revoke',
    isEnding: true,
    async ask(ctx, { t, dateTime }) {
      const { name, lastAccessDate: used } = await rowOfPath(ctx, kit, 'listKeys');
      const lastUse = used
        ? t('keys.lastUsed', { time: dateTime(new Date(used).toISOString()) })
        : t('keys.neverUsed');
      return { name, effects: [lastUse], cancelUrl: path };
    },
    done: (ctx) => kit.open(ctx, path, 'keyRevoked'),
  });
}

/** A first call with the key. */
function exampleLine(
  baseUrl: string,
  { scope, elements: [element] = ['processing.001'] }: Schemas['CreatedKey'],
): string {
  if (scope !== 'DECISION') return `curl -s ${baseUrl}/user -H "CM_KEY: $ACCORD_KEY"`;
  const body = JSON.stringify({ subject: 'jane.doe@example.org', questions: [{ element }] });
  return `curl -s ${baseUrl}/decisions -H "CM_KEY: $ACCORD_KEY" -H 'Content-Type: application/json' -d '${body}'`;
}
