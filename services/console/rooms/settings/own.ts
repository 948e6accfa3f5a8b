import type Router from '@koa/router';
import type { Context } from 'koa';
import type { ApiFailure } from '../../api/api-failure.ts';
import { consoleLanguages } from '../../models/language-list.ts';
import { shortTable } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { fieldsFor } from '../../pages/form.ts';
import { fieldReader, formPage, leadAbove, orShowAgain } from '../../pages/form-page.ts';
import { colorsOf, languageOf, savePreferences } from '../../pages/preferences.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { sessionOf } from '../../sessions/session.ts';
import type { OpenSession } from '../../sessions/store.ts';

/** Language, colours, address and password of the person. */
export function ownRoutes(router: Router, tools: RoomTools): void {
  const path = `${tools.path}/you`;

  const show = async (ctx: Context, failure?: ApiFailure, about?: 'password' | 'address') => {
    const reader = tools.reader(ctx);
    const { t } = reader;
    const { body: config } = await tools.api(ctx).call('getSystemConfig');
    const { body: user } = await tools.api(ctx).call('getUser');
    const field = fieldsFor(reader, 'own');
    const tags = consoleLanguages.map((tag) => [tag, ownName(tag)] as const);
    const languages = [['', t('own.browser')] as const, ...tags];
    const schemes = ['browser', 'light', 'dark'] as const;
    const colors = schemes.map((each) => [each === 'browser' ? '' : each, t(`own.colors.${each}`)] as const);
    const locals = {
      title: t('own.title'),
      sessions: sessionTable(reader, (await sessionOf(ctx).own?.list()) ?? [], path),
      others: tools.form(ctx, {
        action: `${path}/sessions`,
        submit: t('own.endOthers'),
        tone: 'ending',
      }),
      looks: tools.form(ctx, {
        action: path,
        submit: t('own.save'),
        fields: [
          field('language', { kind: 'select', options: languages, isRequired: true }),
          field('colors', { kind: 'select', options: colors, isRequired: true }),
        ],
        values: { language: languageOf(ctx) ?? '', colors: colorsOf(ctx) ?? '' },
      }),
      factorUrl:
        config.issuer.builtIn && `/console/sign-in?${new URLSearchParams({ to: path, factor: '1' })}`,
      address:
        config.issuer.builtIn &&
        tools.may(ctx, 'changeEmail') &&
        tools.form(ctx, {
          action: `${path}/address`,
          submit: t('own.save'),
          fields: [field('email', { kind: 'email', maxLength: 254, autocomplete: 'email' })],
          values: failure ? tools.posted(ctx) : { email: user.email },
          tone: 'plain',
          failure: about === 'address' ? failure : undefined,
        }),
      password:
        config.issuer.builtIn &&
        tools.form(ctx, {
          action: `${path}/password`,
          submit: t('own.change'),
          fields: [
            field('current', { kind: 'password', autocomplete: 'current-password', isRequired: true }),
            field('password', { kind: 'password', autocomplete: 'new-password', isRequired: true }),
          ],
          tone: 'plain',
          failure: about === 'password' ? failure : undefined,
        }),
    };
    await tools.page(ctx, 'own', locals, failure?.status);
  };
  router.get('/you', (ctx) => show(ctx));

  router.post('/you', (ctx) => {
    const { language = [''], colors = [''] } = tools.posted(ctx);
    savePreferences(ctx, { language: language[0] ?? '', colors: colors[0] ?? '' }, tools.baseUrl);
    tools.open(ctx, path, 'looksChanged');
  });

  leadAbove(router, tools, '/you/sessions');
  router.post('/you/sessions', async (ctx) => {
    await sessionOf(ctx).own?.end();
    tools.open(ctx, path, 'sessionsEnded');
  });
  formPage(router, tools, {
    path: '/you/sessions/:handle',
    words: 'own.end',
    isEnding: true,
    ask: () => ({ cancelUrl: path }),
    send: async (ctx) => sessionOf(ctx).own?.end(String(ctx.params.handle)),
    done: (ctx) => tools.open(ctx, path, 'sessionEnded'),
  });

  leadAbove(router, tools, '/you/address');
  router.post(
    '/you/address',
    orShowAgain(
      (ctx, failure) => show(ctx, failure, 'address'),
      async (ctx) => {
        const email = fieldReader(ctx, tools)('email') || null;
        const body = { email, language: tools.reader(ctx).language };
        await tools.api(ctx).call('changeEmail', { body });
        tools.open(ctx, path, email ? 'addressSent' : 'addressRemoved');
      },
    ),
  );

  // A password that was kept during a sign-in is not filled in again: the form is empty, on the page above.
  leadAbove(router, tools, '/you/password');
  router.post(
    '/you/password',
    orShowAgain(
      (ctx, failure) => show(ctx, failure, 'password'),
      async (ctx) => {
        const { current = [''], password = [''] } = tools.posted(ctx);
        const body = { current: current[0] ?? '', password: password[0] ?? '' };
        await tools.api(ctx).call('changePassword', { body, secret: ['current', 'password'] });
        tools.open(ctx, path, 'passwordChanged');
      },
    ),
  );
}

function sessionTable(reader: ConsoleReader, rows: readonly OpenSession[], path: string) {
  const { t } = reader;
  return shortTable(reader, 'own.sessions', {
    rows,
    columns: ({ text, time }) => [
      text('own.device', ({ device }) => device || t('own.unknownDevice')),
      time('own.signedIn', ({ signedInAt }) => signedInAt.toISOString()),
      time('own.used', ({ usedAt }) => usedAt.toISOString()),
      {
        label: t('own.session'),
        cell: ({ handle, isCurrent }) =>
          isCurrent ? { text: t('own.thisOne') } : { text: t('own.end'), href: `${path}/sessions/${handle}` },
      },
    ],
  });
}

/** A language in its own words. */
function ownName(tag: string): string {
  return new Intl.DisplayNames(tag, { type: 'language' }).of(tag) ?? tag;
}
