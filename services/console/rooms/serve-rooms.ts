import Router, { type RouterMiddleware } from '@koa/router';
import type { Context, Middleware } from 'koa';
import { LRUCache } from 'lru-cache';
import type { Document } from 'openapi-backend';
import type { PageInstance } from '#lib/contracts/page-base.ts';
import type { Assets } from '#lib/http/assets.ts';
import { routesOf } from '#lib/http/mount-contract.ts';
import { sendPage } from '#lib/http/send.ts';
import { acceptedLanguages, lookupLanguage } from '#lib/i18n/match-language.ts';
import { type Catalogues, loadCatalogues } from '#lib/pages/catalogues.ts';
import { loadTemplates, type Template } from '#lib/pages/load-templates.ts';
import { createReader, isLanguageTag } from '#lib/pages/reader.ts';
import type { ApiClient, CreateApiClient } from '../api/api-client.ts';
import { ApiFailure } from '../api/api-failure.ts';
import type { OperationId } from '../api/api-types.ts';
import { type OperationRights, operationRights, shownRoles } from '../api/operation-rights.ts';
import { type ConsoleReader, consoleReader } from '../pages/console-reader.ts';
import { failurePage, forbiddenPage, noRolePage } from '../pages/failure-page.ts';
import { consolePath, navigation, opensLink } from '../pages/navigation.ts';
import { createOnce, type OnceStore } from '../pages/once.ts';
import { panelAlone } from '../pages/panel.ts';
import { colorsOf, languageOf } from '../pages/preferences.ts';
import type { SealedNames } from '../pages/sealed-names.ts';
import { createRoomKit, type PageLocals } from '../pages/tools.ts';
import { sessionOf } from '../sessions/session.ts';
import { keepPath } from '../sign-in/paths.ts';
import type { Room } from './room.ts';

/** The instance as it is set now: its members change while the process runs. */
type ConsoleInstance = PageInstance & { readonly language: string };

/** What the pages of all rooms are made from. */
export interface RoomsParts {
  rooms: readonly Room[];
  document: Document;
  instance: ConsoleInstance;
  /** CONSOLE_ACCENT. */
  accent?: string;
  assets: Assets;
  api: CreateApiClient;
  once: OnceStore;
  names: SealedNames;
  /** Members of `features` of GET /system/config; undefined if the API does not tell. */
  features: () => Promise<readonly string[] | undefined>;
  /** Seconds without a request after which a session ends: pages ask before. */
  idleSeconds: number;
  /** Origins that forms may be redirected to: an outside issuer's. */
  formTargets?: () => Promise<readonly string[]>;
}

const kitViews = new URL('../pages/views/', import.meta.url);
const kitLocales = new URL('../pages/locales/', import.meta.url);
const kitPages = [
  'confirm',
  'form',
  'plain-list',
  'secret',
  'failure',
  'no-role',
  'changes',
  'begin',
  'template',
  'unshown',
] as const;

/** Loads the templates that all rooms have. */
export function loadKitTemplates() {
  return loadTemplates(kitViews, kitPages);
}

const folderOf = ({ name, folder = new URL(`./${name}/`, import.meta.url) }: Room) => folder;

/** Loads the templates of a room. */
export function loadRoomTemplates(room: Room): Record<string, Template> {
  return loadTemplates(new URL('views/', folderOf(room)), room.views, kitViews);
}

/** The pages of all rooms, for requests that have a session. Other paths below `/console` are 404. */
export function serveRooms(parts: RoomsParts): Middleware {
  const shared = loadKitTemplates();
  const rights = operationRights(parts.document);
  const router = new Router({ sensitive: true });
  // A page that is open asks for it, so that its session goes on.
  router.get(`${consolePath}/stay`, (ctx) => {
    ctx.status = 204;
  });
  for (const room of parts.rooms) {
    const templates = { ...shared, ...loadRoomTemplates(room) };
    const reader = readerOf(loadCatalogues(kitLocales, new URL('locales/', folderOf(room))), parts);
    const send = sender({ ...parts, room, reader, rights });
    const tools = createRoomKit({
      ...parts,
      once: createOnce(parts.once),
      room,
      templates,
      reader,
      rights,
      send,
    });
    const pages = new Router({ prefix: tools.path, sensitive: true });
    pages.use(guard({ room, reader, rights, instance: parts.instance, api: parts.api, send, shared }));
    room.routes(pages, tools);
    router.use(pages.routes());
  }
  return routesOf(router);
}

/** What the guard of a room is made from. */
interface GuardParts {
  room: Room;
  reader: (ctx: Context) => ConsoleReader;
  rights: OperationRights;
  instance: Pick<PageInstance, 'name'>;
  api: CreateApiClient;
  send: ReturnType<typeof sender>;
  shared: ReturnType<typeof loadKitTemplates>;
}

/** Refuses people without a role of the room, and answers failures of the API with a page. */
function guard({ room, reader, rights, instance, api, send, shared }: GuardParts): RouterMiddleware {
  return async (ctx, next) => {
    const session = sessionOf(ctx);
    const { roles, name } = session;
    ctx.state.organisation = instance.name;
    if (roles.includes('user') && shownRoles(roles).length === 0 && ctx.path === consolePath)
      return openOwnChoices(ctx, api(session));
    if (shownRoles(roles).length === 0)
      return send(ctx, shared['no-role'], noRolePage(reader(ctx), { name, instance: instance.name }), 403);
    const lacking = rights.lackingRoles(roles, room.reads);
    if (lacking.length > 0) return send(ctx, shared.failure, forbiddenPage(reader(ctx), lacking), 403);
    try {
      await next();
      if (ctx.method === 'POST' && ctx.status === 303) await keepCalls(ctx);
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      const { status, locals } = failurePage(reader(ctx), error, ctx.method === 'POST');
      if (error.retryAfter !== undefined) ctx.set('Retry-After', String(error.retryAfter));
      await send(ctx, shared.failure, locals, status);
    }
  };
}

/** Leads a person who only answers to the own choices. */
async function openOwnChoices(ctx: Context, client: ApiClient): Promise<void> {
  const { location } = await client.call('openChoices', { body: {} });
  ctx.status = 303;
  ctx.set('Location', location ?? '/choices');
}

/** The page that follows a change shows its calls. */
async function keepCalls(ctx: Context): Promise<void> {
  const lines = (ctx.state.api as ApiClient | undefined)?.changingLines() ?? [];
  if (lines.length > 0) await sessionOf(ctx).calls?.keep(lines);
}

/** The reader of requests to pages that belong to no room. */
export function kitReader(parts: Pick<RoomsParts, 'instance'>) {
  return readerOf(loadCatalogues(kitLocales), parts);
}

/** The reader of a request: in the best accepted language. */
function readerOf(catalogues: Catalogues, { instance }: Pick<RoomsParts, 'instance'>) {
  const readers = new LRUCache<string, ConsoleReader>({ max: 50 });
  return (ctx: Context): ConsoleReader => {
    const chosen = languageOf(ctx);
    const accepted = acceptedLanguages(ctx.get('accept-language'));
    const wanted = chosen ? [chosen, ...accepted] : accepted;
    const language = lookupLanguage(wanted, catalogues.languages) ?? instance.language;
    const catalogue = catalogues.pick(language);
    const isVariant = (tag: string) => tag.toLowerCase().startsWith(`${catalogue.language}-`);
    const variant = wanted.find((tag) => isVariant(tag) && isLanguageTag(tag));
    const locale = variant ?? catalogue.language;
    const { timeZone } = instance;
    const key = `${locale} ${timeZone}`;
    const known = readers.get(key);
    if (known) return known;
    const made = consoleReader(createReader(catalogue, timeZone, locale), timeZone, locale);
    readers.set(key, made);
    return made;
  };
}

/** Sends a page in the layout of the console. */
function sender(
  parts: RoomsParts & { room: Room; reader: (ctx: Context) => ConsoleReader; rights: OperationRights },
) {
  return async (ctx: Context, template: Template, locals: PageLocals, status: number): Promise<void> => {
    const { rooms, room, instance, accent, assets } = parts;
    const { roles, name, account, calls } = sessionOf(ctx);
    const reader = parts.reader(ctx);
    const may = (operation: OperationId) => parts.rights.mayCall(roles, operation);
    const features = await parts.features();
    // The use of a session is noted every 30th of the time only (sessions/store.ts).
    const idleSeconds = Math.floor((parts.idleSeconds * 29) / 30);
    const leaving = Math.min(120, Math.ceil(idleSeconds / 2));
    const done = `done.${[ctx.query.done].flat()[0] ?? ''}`;
    const html = template({
      ...locals,
      reader,
      t: reader.t,
      asset: assets.url,
      colors: colorsOf(ctx),
      instance,
      accent,
      person: {
        name,
        account,
        role: reader.list(shownRoles(roles).map((role) => reader.word('role', role))),
      },
      links: navigation({ rooms, current: room, may, features, reader }),
      opens: opensLink(rooms, may),
      idleSeconds,
      leaving: { seconds: leaving, text: reader.duration(leaving < 120 ? `PT${leaving}S` : 'PT2M') },
      paths: {
        home: consolePath,
        search: may('listSubjects') ? `${consolePath}/subjects` : null,
        you: shownRoles(roles).length > 0 ? `${consolePath}/settings/you` : null,
        signIn: `${consolePath}/sign-in?${new URLSearchParams({ to: ctx.url })}`,
        stay: `${consolePath}/stay`,
        keep: keepPath,
        signOut: `${consolePath}/sign-out`,
      },
      done: locals.told ?? (reader.has(done) ? reader.t(done) : ''),
      madeCalls: (await calls?.take()) ?? [],
      calls: (ctx.state.api as ApiClient | undefined)?.curlLines() ?? [],
    });
    ctx.vary('Accept-Language');
    const shown = ctx.get('hx-request') ? panelAlone(html, ctx.query.wait) : html;
    sendPage(ctx, shown, { status, formTargets: (await parts.formTargets?.()) ?? [] });
  };
}
