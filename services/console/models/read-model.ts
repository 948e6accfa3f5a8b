import type { Context } from 'koa';
import type { ApiClient } from '../api/api-client.ts';
import { ApiFailure } from '../api/api-failure.ts';
import type { Schemas } from '../api/api-types.ts';
import type { ConsoleReader } from '../pages/console-reader.ts';
import type { Choice } from '../pages/form.ts';
import type { RoomTools } from '../pages/tools.ts';

export type Entry = Schemas['Entry'];
export type Version = Schemas['Version'];

/** An entry with the value for `If-Match`, and its path in the console. */
export interface FoundModel<Type extends Entry['type'] = Entry['type']> {
  entry: Entry & { type: Type };
  etag?: string;
  href: string;
}

/** A version with the value for `If-Match`. */
export interface FoundVersion {
  version: Version;
  etag?: string;
}

/** The path of the page of an element. */
export function elementPath(key: string): string {
  return `/console/elements/${encodeURIComponent(key)}`;
}

/** The path of the page of a form. */
export function formPath(key: string): string {
  return `/console/forms/${encodeURIComponent(key)}`;
}

/** The page with the people who have answered an element. */
export function answeredPath(key: string): string {
  return `/console/subjects/answers?${new URLSearchParams({ element: key })}`;
}

/** Options for entries. */
export function entryChoices(entries: readonly Pick<Entry, 'key' | 'name'>[]): Choice[] {
  return entries.map(({ key, name }) => [key, name]);
}

/** Options for the forms that may be sent to people: of several, none is chosen beforehand. */
export function formChoices({ t }: ConsoleReader, forms: readonly Pick<Entry, 'key' | 'name'>[]): Choice[] {
  return [...(forms.length > 1 ? [['', t('page.chooseForm')] as const] : []), ...entryChoices(forms)];
}

/** The path of the page of an entry. */
export function hrefOf(tools: RoomTools, key: string): string {
  return `${tools.path}/${encodeURIComponent(key)}`;
}

/** The entry of the page's URL. @throws ApiFailure 404 for a deleted entry, and for one of another type. */
async function findModel<Type extends Entry['type']>(
  ctx: Context,
  tools: RoomTools,
  types: readonly Type[],
): Promise<FoundModel<Type>> {
  const key = String(ctx.params.key);
  const { body, etag } = await tools.api(ctx).call('getModelByKey', { params: { key } });
  const type = types.find((each) => each === body.type);
  if (!type || body.status === 'DELETED') throw new ApiFailure(404, {});
  return { entry: { ...body, type }, etag, href: hrefOf(tools, key) };
}

/** Types of entries that the room of elements shows; layouts have a room of their own. */
export const elementTypes = [
  'processing',
  'preference',
  'conditions',
  'information',
  'theme',
  'email',
] as const;

export type ElementType = (typeof elementTypes)[number];
export type FoundElement = FoundModel<ElementType>;
export type FoundForm = FoundModel<'layout'>;

/** The element of the page's URL. @throws ApiFailure 404 for a layout or a deleted entry. */
export function findElement(ctx: Context, tools: RoomTools): Promise<FoundElement> {
  return findModel(ctx, tools, elementTypes);
}

/** The layout of the page's URL. @throws ApiFailure 404 for an entry of another type. */
export function findForm(ctx: Context, tools: RoomTools): Promise<FoundForm> {
  return findModel(ctx, tools, ['layout']);
}

/** Types of elements that people answer. */
export const questionTypes = ['processing', 'preference', 'conditions'] as const;

/** Whether people answer elements of a type. */
export function isQuestion(type: string): boolean {
  return questionTypes.some((each) => each === type);
}

/** Up to 200 entries by name. @param query as GET /models takes it. */
export async function listEntries(
  api: ApiClient,
  query: Readonly<Record<string, string | readonly string[]>>,
): Promise<Entry[]> {
  const { body } = await api.call('listModels', { query: { ...query, sort: 'name', size: 200 } });
  return body.values;
}

/** Names of entries by key; the key stands for an entry that is deleted or beyond the first 200. */
export async function readEntryNames(
  ctx: Context,
  tools: RoomTools,
  types: string | readonly string[],
): Promise<(key: string) => string> {
  const entries = await listEntries(tools.api(ctx), { types });
  const names = new Map(entries.map(({ key, name }) => [key, name]));
  return (key) => names.get(key) ?? key;
}

/** Names of the elements that people answer, by key: up to 200. */
export async function questionNames(ctx: Context, tools: RoomTools): Promise<ReadonlyMap<string, string>> {
  const elements = await listEntries(tools.api(ctx), { types: questionTypes });
  return new Map(elements.map(({ key, name }) => [key, name]));
}

/** The version that pages show unless another is chosen: the draft, else the active one, else the newest. */
export function newestVersion({ versions }: Entry): Entry['versions'][number] | undefined {
  const withStatus = (wanted: string) => versions.find(({ status }) => status === wanted);
  return withStatus('DRAFT') ?? withStatus('ACTIVE') ?? versions[0];
}

/** Whether an entry has a version with a status. */
export function hasVersion({ versions }: Pick<Entry, 'versions'>, status: 'DRAFT' | 'ACTIVE'): boolean {
  return versions.some((each) => each.status === status);
}

/** The version of an entry with a status; undefined if it has none. */
export async function findVersion(
  ctx: Context,
  tools: RoomTools,
  { id, versions }: Entry,
  status: 'DRAFT' | 'ACTIVE',
): Promise<FoundVersion | undefined> {
  const vid = versions.find((each) => each.status === status)?.id;
  if (!vid) return undefined;
  const { body, etag } = await tools.api(ctx).call('getVersion', { params: { id, vid } });
  return { version: body, etag };
}

/** The version of an entry with a status. @throws ApiFailure 404 if it has none. */
export async function requireVersion(...of: Parameters<typeof findVersion>): Promise<FoundVersion> {
  const found = await findVersion(...of);
  if (!found) throw new ApiFailure(404, {});
  return found;
}

/** The address of its own that the ACTIVE version of a form has; undefined without one. */
export async function readPublicForm(
  ctx: Context,
  tools: RoomTools,
  entry: Entry,
): Promise<Schemas['PublicForm'] | undefined> {
  const active = await findVersion(ctx, tools, entry, 'ACTIVE');
  if (!active) return undefined;
  const { data, defaultLanguage } = active.version;
  return (data as Record<string, { public?: Schemas['PublicForm'] }>)[defaultLanguage]?.public;
}
