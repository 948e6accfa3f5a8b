import type { Context } from 'koa';
import type { PageInstance } from '#lib/contracts/page-base.ts';
import type { Template } from '#lib/pages/load-templates.ts';
import type { qrImage } from '#lib/pages/qr-code.ts';
import type { ApiClient, CreateApiClient } from '../api/api-client.ts';
import { ApiFailure } from '../api/api-failure.ts';
import type { OperationId } from '../api/api-types.ts';
import type { OperationRights } from '../api/operation-rights.ts';
import type { Room } from '../rooms/room.ts';
import { fileOf, formOf, keptOf, sessionOf } from '../sessions/session.ts';
import type { ConsoleReader } from './console-reader.ts';
import { sendFile } from './csv-export.ts';
import { type FilterSpec, type Filters, readFilters, withQuery } from './filters.ts';
import { type FormInput, type FormView, formView, type PostedForm } from './form.ts';
import { consolePath, opensLink, placeLinks } from './navigation.ts';
import type { Once } from './once.ts';
import type { SealedNames } from './sealed-names.ts';
import { requestedFile } from './table.ts';

/** A secret that is shown in the answer to the post that made it, and never again. */
export interface ShownSecret {
  title: string;
  /** Why it has to be copied now. */
  text: string;
  label: string;
  value: string;
  /** Further values to copy, such as a curl line. */
  more?: readonly { label: string; value: string }[];
  /** The value as a QR code, for who stands beside the screen. */
  qr?: { image: ReturnType<typeof qrImage>; label: string; text: string };
  /** Where to go on. */
  next: { href: string; word: string };
}

/** What the handlers of a room use. */
export interface RoomTools {
  /** Path of the room, such as `/console/webhooks`. */
  path: string;
  /** Of the instance, now. */
  timeZone: string;
  /** Public address of the instance. */
  baseUrl: string;
  once: Once;
  /** Names of people in URLs. */
  names: SealedNames;
  /** Words, dates and numbers in the person's language. */
  reader(ctx: Context): ConsoleReader;
  /** The public API with the person's token; the page shows the calls as "The same by API". */
  api(ctx: Context): ApiClient;
  /** Whether the contract lets the person call an operation. Pages offer no other act. */
  may(ctx: Context, operation: OperationId): boolean;
  /** Whether a link leads to a room that the person may open. */
  opens(ctx: Context, href: string): boolean;
  /** Whether the person may call it only to read, as an auditor: responses have no link for the subject. */
  onlyReads(ctx: Context, operation: OperationId): boolean;
  /** @throws ApiFailure 403 with the roles of the operation unless the person may call it. */
  require(ctx: Context, operation: OperationId): void;
  /** Sends a page. @param locals values to print: `title` is the heading of the page. */
  page(ctx: Context, view: string, locals: PageLocals, status?: number): Promise<void>;
  filters(ctx: Context, path: string, specs: readonly FilterSpec[]): Filters;
  /** The cursor in the page's URL. */
  cursor(ctx: Context): string | undefined;
  /** The view of a form. A form that was kept during a sign-in is shown as it was typed. */
  form(ctx: Context, input: FormInput): FormView;
  /** The fields of the form that was sent. */
  posted(ctx: Context): PostedForm;
  /** A file of the form that was sent; undefined if none was chosen. */
  file(ctx: Context, name: string): File | undefined;
  /** The fields of a form of this page that was kept during a sign-in. */
  kept(ctx: Context): PostedForm | undefined;
  secret(ctx: Context, shown: ShownSecret): Promise<void>;
  /** After a change: opens a page, which says the message `done.<done>`. */
  open(ctx: Context, path: string, done?: string): void;
}

export interface PageLocals {
  title: string;
  /** Told when the page opens, in place of the message of its URL. */
  told?: string | undefined;
  [name: string]: unknown;
}

/** What the tools of one room are made from. */
export interface RoomParts extends Pick<RoomTools, 'once' | 'names' | 'reader'> {
  instance: Pick<PageInstance, 'baseUrl' | 'timeZone'>;
  room: Room;
  rooms: readonly Room[];
  templates: Readonly<Record<string, Template>>;
  api: CreateApiClient;
  rights: OperationRights;
  send(ctx: Context, template: Template, locals: PageLocals, status: number): Promise<void>;
}

export function createRoomKit(parts: RoomParts): RoomTools {
  const { room, templates, send, instance, once, names, reader } = parts;
  const path = `${consolePath}${room.path}`;
  const may: RoomTools['may'] = (ctx, operation) => parts.rights.mayCall(sessionOf(ctx).roles, operation);
  return {
    path,
    get timeZone() {
      return instance.timeZone;
    },
    baseUrl: instance.baseUrl,
    once,
    names,
    reader,
    api(ctx) {
      ctx.state.api ??= parts.api(sessionOf(ctx));
      return ctx.state.api as ApiClient;
    },
    may,
    opens: (ctx, href) => opensLink(parts.rooms, (operation) => may(ctx, operation))(href),
    onlyReads: (ctx, operation) => parts.rights.onlyReads(sessionOf(ctx).roles, operation),
    require(ctx, operation) {
      const roles = parts.rights.lackingRoles(sessionOf(ctx).roles, operation);
      if (!may(ctx, operation)) throw new ApiFailure(403, {}, { roles });
    },
    async page(ctx, view, locals, status = 200) {
      const file = requestedFile(ctx.query, locals);
      if (file) return sendFile(ctx, file.name, file.text());
      const { t } = reader(ctx);
      const mayOpen = (operation: OperationId) => may(ctx, operation);
      const places = placeLinks(room, { path, current: ctx.path, t, may: mayOpen });
      const placesWord = places && t(`${room.name}.places`);
      return send(ctx, templateOf(templates, view), { places, placesWord, ...locals }, status);
    },
    filters: (ctx, of, specs) => readFilters(of, ctx.query, specs),
    cursor: (ctx) => [ctx.query.cursor].flat()[0] || undefined,
    form(ctx, input) {
      const kept = keptOf(ctx);
      const shown = kept ? { ...input, values: fieldsOf(kept), isKept: true } : input;
      return formView(reader(ctx), shown);
    },
    posted: (ctx) => fieldsOf(formOf(ctx)),
    file: fileOf,
    kept(ctx) {
      const kept = keptOf(ctx);
      return kept && fieldsOf(kept);
    },
    secret: (ctx, shown) => send(ctx, templateOf(templates, 'secret'), { ...shown }, 200),
    open(ctx, to, done) {
      ctx.status = 303;
      ctx.set('Location', withQuery(to, { done }));
    },
  };
}

function templateOf(templates: Readonly<Record<string, Template>>, name: string): Template {
  const template = templates[name];
  if (!template) throw new Error(`No template ${name}`);
  return template;
}

/** Fields by name. Browsers send line ends as CRLF; the API keeps texts with LF. */
function fieldsOf(form: URLSearchParams): PostedForm {
  const values: Record<string, string[]> = Object.create(null);
  for (const [name, value] of form) {
    values[name] ??= [];
    values[name].push(value.replaceAll('\r\n', '\n'));
  }
  return values;
}
