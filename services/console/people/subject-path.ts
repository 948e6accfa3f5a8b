import type { Context } from 'koa';
import { fieldFailure } from '../api/api-failure.ts';
import { languageTags } from '../models/language-list.ts';
import { type Entry, listEntries } from '../models/read-model.ts';
import type { ConsoleReader } from '../pages/console-reader.ts';
import { type Choice, type FieldSpec, fieldsFor, languageChoices } from '../pages/form.ts';
import type { RoomTools } from '../pages/tools.ts';

/** The path of a person's page. */
export function subjectPath({ names }: Pick<RoomTools, 'names'>, name: string): string {
  return `/console/subjects/${names.seal(name)}`;
}

/** The person of the page's URL. @throws ApiFailure 404 if the name was not sealed here. */
export function nameOf(ctx: Context, tools: RoomTools): { name: string; href: string } {
  const sealed = String(ctx.params.s);
  return { name: tools.names.open(sealed) ?? '', href: `${tools.path}/${sealed}` };
}

/** The address to which an invitation is sent. */
export function addressField({ t }: ConsoleReader, rest: Partial<FieldSpec> = {}): FieldSpec {
  const name = 'emailAddress';
  const pointer = [`/${name}`, `/subjectInfos/${name}`];
  return { name, label: t('invite.address'), kind: 'email', pointer, ...rest };
}

/** Keeps an address as that of a person: a change names the subject by its id (openapi.yaml). */
export async function keepAddress(
  ctx: Context,
  tools: RoomTools,
  subject: string,
  emailAddress: string,
): Promise<void> {
  if (!emailAddress) throw fieldFailure('emailAddress', 'required');
  const api = tools.api(ctx);
  const { id } = (await api.call('getSubject', { params: { name: subject } })).body;
  await api.call('updateSubject', { params: { name: id }, body: { emailAddress } });
}

/**
 * Fields that can be changed later.
 * @param first see {@link anyLanguage}. @param language that the person has, which may be a variant.
 */
export function contactFields(
  reader: ConsoleReader,
  first: readonly string[],
  language?: string,
): FieldSpec[] {
  const field = fieldsFor(reader, 'subjects');
  const options = anyLanguage(reader, first, language);
  return [
    field('emailAddress', { word: 'email', kind: 'email' }),
    field('defaultLanguage', { word: 'language', kind: 'select', options }),
  ];
}

/**
 * Every language by name, and none.
 * @param first those that stand first, in their order. @param used the language that is chosen already.
 */
export function anyLanguage(reader: ConsoleReader, first: readonly string[], used?: string): Choice[] {
  const tags = new Set([...first, ...languageTags(reader.language, used)]);
  return [['', '–'], ...languageChoices(reader, [...tags])];
}

/** Languages of active forms, those of the most forms first. */
export function languagesOfForms(forms: readonly Entry[]): string[] {
  const active = forms.flatMap(({ versions }) => versions.filter(({ status }) => status === 'ACTIVE'));
  const uses = new Map<string, number>();
  for (const tag of active.flatMap(({ availableLanguages }) => availableLanguages))
    uses.set(tag, (uses.get(tag) ?? 0) + 1);
  return [...uses].sort(([one, n], [other, m]) => m - n || (one < other ? -1 : 1)).map(([tag]) => tag);
}

/** {@link languagesOfForms} of this instance. */
export async function readFormLanguages(ctx: Context, tools: RoomTools): Promise<string[]> {
  return languagesOfForms(await listEntries(tools.api(ctx), { types: 'layout', statuses: 'ACTIVE' }));
}
