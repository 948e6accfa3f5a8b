import { describe, expect, it } from 'vitest';
import { readContract } from '#lib/http/contract-document.ts';
import { contentFields } from '../../services/console/rooms/elements/content-fields.ts';
import {
  contextNames,
  referenceNames,
  switchNames,
  textNames,
} from '../../services/console/rooms/forms/layout-values.ts';

interface Schema {
  $ref?: string;
  type?: string;
  items?: Schema;
  properties?: Record<string, Schema>;
}

const document = readContract(new URL('../../openapi.yaml', import.meta.url));
const schemas = (document.components?.schemas ?? {}) as Record<string, Schema>;
const resolve = (schema: Schema): Schema =>
  schema.$ref ? (schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}) : schema;

/** Paths of all members, those of objects and of the items of lists too. */
function membersOf(given: Schema, prefix = ''): string[] {
  return Object.entries(resolve(given).properties ?? {}).flatMap(([name, member]) => {
    const { type, items, properties } = resolve(member);
    const inner = type === 'array' ? resolve(items ?? {}) : { properties };
    return inner.properties ? membersOf(inner, `${prefix}${name}.`) : [prefix + name];
  });
}

/** Members that no editor shows, and why. */
const exceptions: Record<string, string> = {
  'processing.lang': 'the API adds it to content that it shows',
  'preference.lang': 'the API adds it to content that it shows',
  'conditions.lang': 'the API adds it to content that it shows',
  'information.lang': 'the API adds it to content that it shows',
  'processing.retention.label': 'retention.fullText says the same in words',
  'processing.refusable': 'choice says the same',
  'preference.includeDefault': 'it is set with defaultValues',
  'theme.icon': 'no page shows it',
  'theme.logoPath': 'a logo is uploaded on a page of its own',
  'email.sender': 'no mail uses it',
  'layout.type': 'it is always the same',
  'layout.public.identify': 'the address of a form has a page of its own',
  'layout.public.until': 'the address of a form has a page of its own',
};

const shown: Record<string, string[]> = {
  ...Object.fromEntries(
    Object.entries(contentFields).map(([type, fields]) => [
      type,
      fields.flatMap(({ path, parts }) => (parts ? parts.map((part) => `${path}.${part}`) : [path])),
    ]),
  ),
  layout: [
    'elements',
    'orientation',
    ...referenceNames,
    ...switchNames,
    ...textNames,
    ...contextNames.map((name) => `context.${name}`),
  ],
};

describe('the editors of the console', () => {
  it.each(['processing', 'preference', 'conditions', 'information', 'theme', 'email', 'layout'])(
    'have an input for every member of %s, or a reason why there is none',
    (type) => {
      const schema = schemas[`${type[0]?.toUpperCase()}${type.slice(1)}Content`] ?? {};
      const members = membersOf(schema);
      expect(members.length).toBeGreaterThan(1);
      // The editor shows a style sheet as several inputs.
      const has = (member: string) =>
        shown[type]?.some((path) => path === member || (member === 'css' && path.startsWith('css.')));
      expect(members.filter((member) => !has(member) && !exceptions[`${type}.${member}`])).toEqual([]);
      const unknown = shown[type]?.filter((path) => !members.includes(path) && !path.startsWith('css.'));
      expect(unknown).toEqual([]);
    },
  );
});
