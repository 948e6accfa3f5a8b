import type Router from '@koa/router';
import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import { columnsFor, factsView, timeCell } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { type FormPage, fieldReader, formPage, orShowAgain } from '../../pages/form-page.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { findRow, rowsOf, sendList } from '../../pages/list-page.ts';
import { stateMark } from '../../pages/states.ts';
import type { Column } from '../../pages/table.ts';

type Account = components['schemas']['Account'];

const roles = ['admin', 'operator', 'user'] as const;

/** Accounts of the built-in issuer: list, invite, role, disable, new link, delete. */
export function accountRoutes(router: Router, kit: RoomKit): void {
  const path = `${kit.path}/accounts`;
  const paramsOf = (ctx: Context) => ({ params: { id: String(ctx.params.id) } });
  const urlOf = (ctx: Context) => `${path}/${String(ctx.params.id)}`;

  router.get('/accounts', async (ctx) => {
    const reader = kit.reader(ctx);
    const api = kit.api(ctx);
    const { issuer } = (await api.call('getSystemConfig')).body;
    const title = reader.t('accounts.title');
    if (!issuer.builtIn) return kit.page(ctx, 'accounts', { title, table: null, issuer: issuer.url });
    await sendList(ctx, kit, {
      view: 'accounts',
      title,
      path,
      columns: columnsOf(reader, path),
      read: (cursor) => rowsOf(api.call('listAccounts', { query: { cursor } })),
      csv: 'accounts',
      locals: { newUrl: `${path}/new` },
    });
  });

  formPage(router, kit, {
    path: '/accounts/new',
    operation: 'createAccount',
    view: 'form',
    isCreating: true,
    ask: (_, reader) => ({
      title: reader.t('accounts.new'),
      submit: reader.t('accounts.invite'),
      cancelUrl: path,
      fields: [
        { name: 'name', label: reader.t('accounts.name'), isRequired: true, maxLength: 255 },
        roleField(reader),
      ],
      values: { role: 'operator' },
    }),
    send: (ctx, field) =>
      kit.api(ctx).call('createAccount', { body: { name: field('name'), role: field('role') } }),
    done: (ctx, { body }) => showLink(ctx, body),
  });

  const showLink = (ctx: Context, { name, link, linkExpires }: components['schemas']['InvitedAccount']) => {
    const reader = kit.reader(ctx);
    return kit.secret(ctx, {
      title: reader.t('accounts.linkTitle', { name }),
      text: reader.t('accounts.linkText', { time: reader.dateTime(linkExpires) }),
      label: reader.t('accounts.link'),
      value: link,
      next: { href: path, word: reader.t('accounts.back') },
    });
  };

  const showAccount = async (ctx: Context, failure?: ApiFailure) => {
    const reader = kit.reader(ctx);
    const account = await findAccount(ctx, kit);
    const href = urlOf(ctx);
    const isDisabled = account.state === 'DISABLED';
    const locals = {
      title: account.name,
      facts: factsOf(reader, account),
      change: kit.form(ctx, {
        action: href,
        submit: reader.t('accounts.save'),
        cancelUrl: path,
        fields: [roleField(reader)],
        values: failure ? kit.posted(ctx) : { role: account.role },
        failure,
      }),
      acts: [
        { href: `${href}/${isDisabled ? 'enable' : 'disable'}`, word: actWord(reader, isDisabled) },
        ...(isDisabled ? [] : [{ href: `${href}/link`, word: reader.t('accounts.newLink') }]),
        { href: `${href}/delete`, word: reader.t('accounts.delete') },
      ],
    };
    await kit.page(ctx, 'account', locals, failure?.status);
  };
  router.get('/accounts/:id', (ctx) => showAccount(ctx));

  router.post(
    '/accounts/:id',
    orShowAgain(showAccount, async (ctx) => {
      const body = { role: fieldReader(ctx, kit)('role') };
      await kit.api(ctx).call('updateAccount', { ...paramsOf(ctx), body });
      kit.open(ctx, urlOf(ctx), 'accountChanged');
    }),
  );

  /** A page that asks before an act, and the act. */
  const act = (
    name: 'disable' | 'enable' | 'link' | 'delete',
    carryOut: Pick<FormPage<unknown>, 'send' | 'done'>,
  ) =>
    formPage(router, kit, {
      path: `/accounts/:id/${name}`,
      async ask(ctx, { t }) {
        const account = await findAccount(ctx, kit);
        return {
          title: t(`accounts.${name}Title`, { name: account.name }),
          effects: [t(`accounts.${name}Effect`)],
          submit: t(`accounts.${name}Act`),
          tone: name === 'delete' || name === 'disable' ? 'ending' : 'primary',
          cancelUrl: urlOf(ctx),
        };
      },
      ...carryOut,
    });
  const setDisabled = (disabled: boolean) => ({
    send: (ctx: Context) => kit.api(ctx).call('updateAccount', { ...paramsOf(ctx), body: { disabled } }),
    done: (ctx: Context) => kit.open(ctx, urlOf(ctx), disabled ? 'accountDisabled' : 'accountEnabled'),
  });
  act('disable', setDisabled(true));
  act('enable', setDisabled(false));
  act('link', {
    send: async (ctx) => showLink(ctx, (await kit.api(ctx).call('createAccountLink', paramsOf(ctx))).body),
    done: () => undefined,
  });
  act('delete', {
    send: (ctx) => kit.api(ctx).call('deleteAccount', paramsOf(ctx)),
    done: (ctx) => kit.open(ctx, path, 'accountDeleted'),
  });
}

function actWord({ t }: ConsoleReader, isDisabled: boolean): string {
  return t(isDisabled ? 'accounts.enableAct' : 'accounts.disableAct');
}

function roleField(reader: ConsoleReader) {
  return {
    name: 'role',
    label: reader.t('accounts.role'),
    kind: 'radios' as const,
    isRequired: true,
    options: roles.map((role) => [role, reader.t(`accounts.roleText.${role}`)] as const),
  };
}

function columnsOf(reader: ConsoleReader, path: string): Column<Account>[] {
  const { text, word, state, time } = columnsFor<Account>(reader);
  return [
    text('accounts.name', ({ name }) => name, { href: ({ id }) => `${path}/${id}` }),
    word('accounts.role', 'role', ({ role }) => role),
    state('accounts.state', 'accountState', (account) => account.state),
    time('accounts.signedIn', ({ lastSignInDate }) => lastSignInDate, reader.t('accounts.never')),
  ];
}

function factsOf(reader: ConsoleReader, { state, creationDate, lastSignInDate }: Account) {
  return factsView(reader, {
    'accounts.state': { state: stateMark(reader, 'accountState', state) },
    'accounts.created': { time: reader.time(creationDate) },
    'accounts.signedIn': timeCell(reader, lastSignInDate, reader.t('accounts.never')),
  });
}

/** @throws ApiFailure 404 for an account that was deleted meanwhile. */
async function findAccount(ctx: Context, kit: RoomKit): Promise<Account> {
  const found = await findRow(
    (cursor) => rowsOf(kit.api(ctx).call('listAccounts', { query: { cursor, limit: 200 } })),
    ({ id }) => id === ctx.params.id,
  );
  if (!found) throw new ApiFailure(404, {});
  return found;
}
