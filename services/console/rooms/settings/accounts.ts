import type Router from '@koa/router';
import type { Context } from 'koa';
import { givenRoles } from '#lib/contracts/principal.ts';
import type { ApiFailure } from '../../api/api-failure.ts';
import type { Schemas } from '../../api/api-types.ts';
import { actLinks } from '../../pages/acts.ts';
import { factsView, timeCell } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { fieldsFor, wordChoices } from '../../pages/form.ts';
import { actPage, fieldReader, formPage, orShowAgain } from '../../pages/form-page.ts';
import { rowOfPath, sendPlainList } from '../../pages/list-page.ts';
import { stateMark } from '../../pages/states.ts';
import type { RoomTools } from '../../pages/tools.ts';

type Account = Schemas['Account'];

/** Accounts of the built-in issuer: list, invite, role, disable, new link, delete. */
export function accountRoutes(router: Router, tools: RoomTools): void {
  const path = `${tools.path}/accounts`;

  router.get('/accounts', async (ctx) => {
    const { issuer } = (await tools.api(ctx).call('getSystemConfig')).body;
    if (issuer.builtIn)
      return sendPlainList(ctx, tools, {
        path: '/accounts',
        operation: 'listAccounts',
        words: 'accounts',
        columns: ({ text, word, state, time }, reader) => [
          text('accounts.name', ({ name }) => name, { href: ({ id }) => `${path}/${id}` }),
          word('accounts.role', 'role', ({ role }) => role),
          text('accounts.email', ({ email }) => email ?? '–'),
          state('accounts.state', 'accountState', (account) => account.state),
          time('accounts.signedIn', ({ lastSignInDate }) => lastSignInDate, reader.t('accounts.never')),
        ],
        creates: 'createAccount',
      });
    await tools.page(ctx, 'outside', { title: tools.reader(ctx).t('accounts.title'), issuer: issuer.url });
  });

  actPage(router, tools, {
    path: '/accounts/new',
    operation: 'createAccount',
    view: 'form',
    isCreating: true,
    ask: (_, reader) => ({
      title: reader.t('accounts.new'),
      submit: reader.t('accounts.invite'),
      fields: [
        fieldsFor(reader, 'accounts')('name', { isRequired: true, maxLength: 255 }),
        emailField(reader),
        roleField(reader),
      ],
      values: { role: 'clerk' },
      hidden: { language: reader.language },
    }),
    body: (field) => ({
      name: field('name'),
      role: field('role'),
      language: field('language'),
      ...(field('email') && { email: field('email') }),
    }),
    done: (ctx, { body }) => showLink(ctx, body),
  });

  const showLink = (ctx: Context, invited: Schemas['InvitedAccount']) => {
    const { name, link, linkExpires, email = '', mailed } = invited;
    const reader = tools.reader(ctx);
    return tools.secret(ctx, {
      title: reader.t('accounts.linkTitle', { name }),
      text: reader.t(mailed ? 'accounts.linkMailed' : 'accounts.linkText', {
        time: reader.dateTime(linkExpires),
        email,
      }),
      label: reader.t('accounts.linkLabel'),
      value: link,
      next: { href: path, word: reader.t('accounts.back') },
    });
  };

  const findAccount = (ctx: Context) =>
    rowOfPath(ctx, (page) => tools.api(ctx).list('listAccounts', { page }));

  const showAccount = async (ctx: Context, failure?: ApiFailure) => {
    const reader = tools.reader(ctx);
    const account = await findAccount(ctx);
    const href = ctx.path;
    const isDisabled = account.state === 'DISABLED';
    const act = (name: string) => ({ href: `${href}/${name}`, word: `accounts.${name}` });
    const locals = {
      title: account.name,
      facts: factsOf(reader, account),
      change:
        tools.may(ctx, 'updateAccount') &&
        tools.form(ctx, {
          action: href,
          submit: reader.t('accounts.save'),
          cancelUrl: path,
          fields: [roleField(reader), emailField(reader)],
          values: failure ? tools.posted(ctx) : { role: account.role, email: account.email },
          failure,
        }),
      acts: actLinks(ctx, tools, [
        { href: `/console/audit?actor=${account.id}`, word: 'accounts.log', operation: 'listAuthAudit' },
        { ...act('enable'), operation: 'updateAccount', when: isDisabled },
        { ...act('disable'), operation: 'updateAccount', when: !isDisabled },
        { ...act('link'), operation: 'createAccountLink', when: !isDisabled },
        { ...act('unfactor'), operation: 'removeSecondFactor', when: account.secondFactor },
        { ...act('delete'), operation: 'deleteAccount' },
      ]),
    };
    await tools.page(ctx, 'account', locals, failure?.status);
  };
  router.get('/accounts/:id', (ctx) => showAccount(ctx));

  router.post(
    '/accounts/:id',
    orShowAgain(showAccount, async (ctx) => {
      const field = fieldReader(ctx, tools);
      const body = { role: field('role'), email: field('email') || null };
      await tools.api(ctx).call('updateAccount', { params: ctx.params, body });
      tools.open(ctx, ctx.path, 'accountChanged');
    }),
  );

  const ask = async (ctx: Context) => ({ name: (await findAccount(ctx)).name });
  for (const [act, disabled] of [['disable', true] as const, ['enable', false] as const])
    actPage(router, tools, {
      path: `/accounts/:id/${act}`,
      operation: 'updateAccount',
      words: `accounts.${act}`,
      isEnding: disabled,
      ask,
      body: () => ({ disabled }),
      done: disabled ? 'accountDisabled' : 'accountEnabled',
    });
  formPage(router, tools, {
    path: '/accounts/:id/link',
    operation: 'createAccountLink',
    words: 'accounts.link',
    ask,
    send: (ctx) =>
      tools.api(ctx).call('createAccountLink', {
        params: ctx.params,
        query: { language: tools.reader(ctx).language },
      }),
    done: (ctx, { body }) => showLink(ctx, body),
  });
  actPage(router, tools, {
    path: '/accounts/:id/unfactor',
    operation: 'removeSecondFactor',
    words: 'accounts.unfactor',
    isEnding: true,
    ask,
    done: 'factorRemoved',
  });
  actPage(router, tools, {
    path: '/accounts/:id/delete',
    operation: 'deleteAccount',
    words: 'accounts.delete',
    isEnding: true,
    ask,
    done: (ctx) => tools.open(ctx, path, 'accountDeleted'),
  });
}

function roleField(reader: ConsoleReader) {
  return {
    name: 'role',
    label: reader.t('accounts.role'),
    kind: 'radios' as const,
    isRequired: true,
    options: wordChoices(reader, 'accounts.roleText', givenRoles),
  };
}

function emailField(reader: ConsoleReader) {
  return fieldsFor(reader, 'accounts')('email', { kind: 'email', maxLength: 254, autocomplete: 'off' });
}

function factsOf(reader: ConsoleReader, account: Account) {
  const { state, creationDate, lastSignInDate, secondFactor, email } = account;
  return factsView(reader, {
    'accounts.email': email ? { text: email } : { text: '–', note: reader.t('accounts.noEmail') },
    'accounts.state': { state: stateMark(reader, 'accountState', state) },
    'accounts.factor': { text: reader.t(secondFactor ? 'accounts.hasFactor' : 'accounts.noFactor') },
    'accounts.created': { time: reader.time(creationDate) },
    'accounts.signedIn': timeCell(reader, lastSignInDate, reader.t('accounts.never')),
  });
}
