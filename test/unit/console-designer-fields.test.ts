import { expect, it } from 'vitest';
import type { ConsoleReader } from '../../services/console/pages/console-reader.ts';
import { designerFields } from '../../services/console/rooms/forms/designer-view.ts';
import type { Layout } from '../../services/console/rooms/forms/layout-values.ts';

const reader = {
  t: (key: string, { name = '' }: { name?: string } = {}) => `${key} ${name}`.trim(),
  has: () => false,
  word: (_: string, code: string) => code,
  duration: (text: string) => text,
  languageName: (tag: string) => tag,
} as unknown as ConsoleReader;
const layout = { languages: ['en'], one: () => '' } as unknown as Layout;
const [who, other] = [['information.1', 'Who asks'] as const, ['information.2', 'Who else asks'] as const];
const offered = { elements: [], themes: [], mails: [] };

/** What the designer offers as the information of a form. */
const optionsOf = (information: (readonly [string, string])[], byDefault?: string) =>
  designerFields(reader, layout, { ...offered, information, byDefault }).find(({ name }) => name === 'info')
    ?.options;

it('the only information is chosen by itself, unless there is a default one', () => {
  expect(optionsOf([who])).toEqual([who]);
  expect(optionsOf([who], 'Who asks')).toEqual([['', 'designer.infoDefault Who asks'], who]);
  expect(optionsOf([who, other])).toEqual([['', 'designer.infoNone'], who, other]);
  expect(optionsOf([])).toEqual([['', 'designer.infoNone']]);
});
