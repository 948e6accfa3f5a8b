import type { Context } from 'koa';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { type FieldSpec, fieldsFor } from '../../pages/form.ts';
import type { RoomKit } from '../../pages/kit.ts';

/** The path of a person's page. */
export function subjectPath({ names }: Pick<RoomKit, 'names'>, name: string): string {
  return `/console/subjects/${names.seal(name)}`;
}

/** The person of the page's URL. @throws ApiFailure 404 if the name was not sealed here. */
export function nameOf(ctx: Context, kit: RoomKit): { name: string; href: string } {
  const sealed = String(ctx.params.s);
  return { name: kit.names.open(sealed) ?? '', href: `${kit.path}/${sealed}` };
}

/** Fields that can be changed later. */
export function contactFields(reader: ConsoleReader): FieldSpec[] {
  const field = fieldsFor(reader, 'subjects');
  return [
    field('emailAddress', { word: 'email', kind: 'email' }),
    field('defaultLanguage', { word: 'language', isCode: true }),
  ];
}
