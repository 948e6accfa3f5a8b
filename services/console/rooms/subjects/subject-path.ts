import type { ConsoleReader } from '../../pages/console-reader.ts';
import type { FieldSpec } from '../../pages/form.ts';
import type { RoomKit } from '../../pages/kit.ts';

/** The path of a person's page. */
export function subjectPath({ names }: Pick<RoomKit, 'names'>, name: string): string {
  return `/console/subjects/${names.seal(name)}`;
}

/** Fields that can be changed later. */
export function contactFields({ t }: ConsoleReader): FieldSpec[] {
  return [
    { name: 'emailAddress', label: t('subjects.email'), kind: 'email' },
    {
      name: 'defaultLanguage',
      label: t('subjects.language'),
      hint: t('subjects.languageHint'),
      isCode: true,
    },
  ];
}
