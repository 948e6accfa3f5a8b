import type Router from '@koa/router';
import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { sendCsv } from '../../pages/csv-export.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { stateMark } from '../../pages/states.ts';
import { type Column, tableView } from '../../pages/table.ts';
import { placesOf } from './places.ts';

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
    const { body: config } = await api.call('getSystemConfig');
    const title = reader.t('accounts.title');
    const places = placesOf(ctx, kit);
    if (!config.issuer.builtIn)
      return kit.page(ctx, 'accounts', { title, places, table: null, issuer: config.issuer.url });
    const columns = columnsOf(reader, path);
    const read = async (cursor?: string) => {
      const { body, next } = await api.call('listAccounts', { query: { cursor } });
      return { rows: body, next };
    };
    if (ctx.query.format === 'csv') return sendCsv(ctx, 'accounts', columns, read);
    const cursor = kit.cursor(ctx);
    const page = await read(cursor);
    const table = tableView(reader, { caption: title, columns, path, cursor, ...page });
    await kit.page(ctx, 'accounts', { title, places, table, newUrl: `${path}/new` });
  });

  const showNew = async (ctx: Context, failure?: ApiFailure) => {
    if (!kit.may(ctx, 'createAccount')) throw new ApiFailure(403, {});
    const reader = kit.reader(ctx);
    const form = kit.form(ctx, {
      action: `${path}/new`,
      submit: reader.t('accounts.invite'),
      cancelUrl: path,
      fields: [
        { name: 'name', label: reader.t('accounts.name'), isRequired: true, maxLength: 255 },
        roleField(reader),
      ],
      values: failure ? kit.posted(ctx) : { role: 'operator' },
      failure,
      once: kit.once.make(),
    });
    const locals = { title: reader.t('accounts.new'), places: placesOf(ctx, kit), form };
    await kit.page(ctx, 'form', locals, failure?.status);
  };
  router.get('/accounts/new', (ctx) => showNew(ctx));

  router.post('/accounts/new', async (ctx) => {
    const { name = [''], role = [''], once } = kit.posted(ctx);
    try {
      const body = { name: name[0]?.trim() ?? '', role: role[0] ?? '' };
      const result = await kit.once.run(once?.[0], () => kit.api(ctx).call('createAccount', { body }));
      if (result === 'repeated') return kit.open(ctx, path, 'repeated');
      await showLink(ctx, result.made.body);
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      await showNew(ctx, error);
    }
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
    await kit.page(
      ctx,
      'account',
      {
        title: account.name,
        places: placesOf(ctx, kit),
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
      },
      failure?.status,
    );
  };
  router.get('/accounts/:id', (ctx) => showAccount(ctx));

  router.post('/accounts/:id', async (ctx) => {
    try {
      const body = { role: kit.posted(ctx).role?.[0] ?? '' };
      await kit.api(ctx).call('updateAccount', { ...paramsOf(ctx), body });
      kit.open(ctx, urlOf(ctx), 'accountChanged');
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      await showAccount(ctx, error);
    }
  });

  /** A page that asks before an act, and the act. */
  const act = (
    name: 'disable' | 'enable' | 'link' | 'delete',
    carryOut: (ctx: Context) => Promise<unknown>,
  ) => {
    const ask = async (ctx: Context, failure?: ApiFailure) => {
      const { t } = kit.reader(ctx);
      const account = await findAccount(ctx, kit);
      const confirmation = {
        title: t(`accounts.${name}Title`, { name: account.name }),
        effects: [t(`accounts.${name}Effect`)],
        form: kit.form(ctx, {
          action: `${urlOf(ctx)}/${name}`,
          submit: t(`accounts.${name}Act`),
          tone: name === 'delete' || name === 'disable' ? 'ending' : 'primary',
          cancelUrl: urlOf(ctx),
          fields: [],
          failure,
        }),
      };
      await kit.confirm(ctx, confirmation, failure?.status);
    };
    router.get(`/accounts/:id/${name}`, (ctx) => ask(ctx));
    router.post(`/accounts/:id/${name}`, async (ctx) => {
      try {
        await carryOut(ctx);
      } catch (error) {
        if (!(error instanceof ApiFailure)) throw error;
        await ask(ctx, error);
      }
    });
  };
  const setDisabled = async (ctx: Context, disabled: boolean) => {
    await kit.api(ctx).call('updateAccount', { ...paramsOf(ctx), body: { disabled } });
    kit.open(ctx, urlOf(ctx), disabled ? 'accountDisabled' : 'accountEnabled');
  };
  act('disable', (ctx) => setDisabled(ctx, true));
  act('enable', (ctx) => setDisabled(ctx, false));
  act('link', async (ctx) =>
    showLink(ctx, (await kit.api(ctx).call('createAccountLink', paramsOf(ctx))).body),
  );
  act('delete', async (ctx) => {
    await kit.api(ctx).call('deleteAccount', paramsOf(ctx));
    kit.open(ctx, path, 'accountDeleted');
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
  return [
    {
      label: reader.t('accounts.name'),
      cell: ({ id, name }) => ({ text: name, href: `${path}/${id}` }),
      csv: ({ name }) => name,
    },
    {
      label: reader.t('accounts.role'),
      cell: ({ role }) => ({ text: reader.word('role', role) }),
      csv: ({ role }) => role,
    },
    {
      label: reader.t('accounts.state'),
      cell: ({ state }) => ({ state: stateMark(reader, 'accountState', state) }),
      csv: ({ state }) => state,
    },
    {
      label: reader.t('accounts.signedIn'),
      cell: ({ lastSignInDate }) =>
        lastSignInDate ? { time: reader.time(lastSignInDate) } : { text: reader.t('accounts.never') },
      csv: ({ lastSignInDate }) => (lastSignInDate ? new Date(lastSignInDate).toISOString() : ''),
    },
  ];
}

function factsOf(reader: ConsoleReader, { state, creationDate, lastSignInDate }: Account) {
  const signedIn = lastSignInDate
    ? { time: reader.time(lastSignInDate) }
    : { text: reader.t('accounts.never') };
  return [
    { label: reader.t('accounts.state'), cell: { state: stateMark(reader, 'accountState', state) } },
    { label: reader.t('accounts.created'), cell: { time: reader.time(creationDate) } },
    { label: reader.t('accounts.signedIn'), cell: signedIn },
  ];
}

/** @throws ApiFailure 404 for an account that was deleted meanwhile. */
async function findAccount(ctx: Context, kit: RoomKit): Promise<Account> {
  for (let cursor: string | undefined; ; ) {
    const { body, next } = await kit.api(ctx).call('listAccounts', { query: { cursor, limit: 200 } });
    const found = body.find(({ id }) => id === ctx.params.id);
    if (found) return found;
    if (!next) throw new ApiFailure(404, {});
    cursor = next;
  }
}
