import type { Context } from 'koa';
import { fieldFailure } from '../api/api-failure.ts';
import { languageTags } from '../models/language-list.ts';
import type { ConsoleReader } from '../pages/console-reader.ts';
import { type Choice, type FieldSpec, fieldsFor, languageChoices } from '../pages/form.ts';
import type { RoomKit } from '../pages/kit.ts';

/** The path of a person's page. */
export function subjectPath({ names }: Pick<RoomKit, 'names'>, name: string): string {
  return `/console/subjects/${names.seal(name)}`;
}

/** The person of the page's URL. @throws ApiFailure 404 if the name was not sealed here. */
export function nameOf(ctx: Context, kit: RoomKit): { name: string; href: string } {
  const sealed = String(ctx.params.s);
  return { name: kit.names.open(sealed) ?? '', href: `${kit.path}/${sealed}` };
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
  kit: RoomKit,
  subject: string,
  emailAddress: string,
): Promise<void> {
  if (!emailAddress) throw fieldFailure('emailAddress', 'required');
  const api = kit.api(ctx);
  const { id } = (await api.call('getSubject', { params: { name: subject } })).body;
  await api.call('updateSubject', { params: { name: id }, body: { emailAddress } });
}

/** Fields that can be changed later. @param language that the person has, which may be a variant. */
export function contactFields(reader: ConsoleReader, language?: string): FieldSpec[] {
  const field = fieldsFor(reader, 'subjects');
  return [
    field('emailAddress', { word: 'email', kind: 'email' }),
    field('defaultLanguage', { word: 'language', kind: 'select', options: anyLanguage(reader, language) }),
  ];
}

/** Every language by name, and none. @param used one that is chosen already. */
export function anyLanguage(reader: ConsoleReader, used?: string): Choice[] {
  return [['', '–'], ...languageChoices(reader, languageTags(reader.language, used))];
}
