import { readFileSync } from 'node:fs';
import validatorModule from 'openapi-schema-validator';
import { describe, expect, test } from 'vitest';
import { parseDocument, visit } from 'yaml';
import { requestSchemas } from '../support/contract/close-responses.ts';
import { readPublishedContract } from '../support/contract/contract.ts';
import { listOperations, type ResponseObject, resolve } from '../support/contract/contract-paths.ts';

interface Schema {
  $ref?: string;
  type?: string;
  format?: string;
  maximum?: number;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  [keyword: string]: unknown;
}
type Content = Record<string, { schema: Schema }>;

const document = readPublishedContract();
const operations = listOperations(document);
const schemas = document.components.schemas as Record<string, Schema>;
const text = readFileSync(new URL('../../openapi.yaml', import.meta.url), 'utf8');

/** Every schema of the document, with its place. Examples hold none. */
function allSchemas(): [string, Schema][] {
  const found: [string, Schema][] = [];
  const walk = (node: unknown, at: string, isSchema: boolean) => {
    if (typeof node !== 'object' || node === null || at.includes('/examples/')) return;
    if (isSchema) found.push([at, node as Schema]);
    for (const [name, value] of Object.entries(node)) {
      const isMap = /\/(properties|schemas)$/.test(at);
      const isList = /\/(allOf|oneOf|anyOf)$/.test(at);
      walk(
        value,
        `${at}/${name}`,
        isMap || isList || ['schema', 'items', 'additionalProperties'].includes(name),
      );
    }
  };
  walk(document, '', false);
  return found;
}

const requestContent = (body: unknown): Content =>
  body ? resolve<{ content: Content }>(document, body).value.content : {};
const nameOf = ({ $ref = '' }: Schema) => $ref.split('/').at(-1) ?? '';
/** How generators fold names: `accord-action` and `accordAction` are one. */
const folded = (name: unknown) =>
  String(name)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '');

/** Members for which a generator makes a schema: without a `$ref`, or in two parts of an `allOf`. */
function ownMembers(schema: Schema): string[] {
  const parts = (schema.allOf as Schema[] | undefined)?.map((part) => resolve<Schema>(document, part).value);
  const names = (parts ?? []).flatMap(({ properties = {} }) => Object.keys(properties));
  const inline = Object.entries(schema.properties ?? {}).filter(
    ([, { properties, oneOf, enum: values, items }]) =>
      properties ?? oneOf ?? values ?? (items as Schema)?.properties,
  );
  return [...names.filter((name, place) => names.indexOf(name) !== place), ...inline.map(([name]) => name)];
}

/** Names that a generator's own code, the language, or its standard library has. */
const reserved = [
  'apiclient apierror apiexception apiresponse api auth authentication base baseapi basemodel client clientoption',
  'config configuration context endpoint enum error errors exception header headers httpclient http model models',
  'options param params parameter query request requestoptions response responses rest server servers transport',
  'unset file date datetime list map dict object string integer number boolean array set any byte char class default',
  'function import interface package return type uuid uri url void promise record partial readonly pick omit exclude',
  'required optional iterable collection symbol',
]
  .join(' ')
  .split(' ');

describe('clients that generators make of the contract compile:', () => {
  test('it is valid by the schema of OpenAPI 3.0', () => {
    const { default: Validator } = validatorModule as unknown as {
      default: new (options: { version: number }) => { validate(given: unknown): { errors: unknown[] } };
    };
    const { errors } = new Validator({ version: 3 }).validate(document);
    expect(errors).toEqual([]);
  });

  test('it has no anchors and aliases, which ogen does not read', () => {
    const found: string[] = [];
    visit(parseDocument(text), {
      Alias: (_, { source }) => void found.push(`*${source}`),
      Node: (_, node) =>
        void ((node as { anchor?: string }).anchor && found.push(`&${(node as { anchor?: string }).anchor}`)),
    });
    expect(found).toEqual([]);
  });

  test('no schema has a name of the generated code or of a language', () => {
    expect(Object.keys(schemas).filter((name) => reserved.includes(folded(name)))).toEqual([]);
  });

  test('no name is made twice of schemas, constructors, wrappers, parameters and security schemes', () => {
    const names = new Set(Object.keys(schemas).map(folded));
    expect(names.size).toBe(Object.keys(schemas).length);
    const schemes = Object.keys(document.components.securitySchemes ?? {});
    const bodies = Object.keys(document.components.requestBodies ?? {}).map((name) => `${name}Body`);
    const parameters = Object.keys(document.components.parameters ?? {});
    expect([...schemes, ...bodies, ...parameters].filter((name) => names.has(folded(name)))).toEqual([]);
    // Go: the constructor of `Key` is `NewKey`. An inline schema has the names of its parent and its member.
    const made = Object.entries(schemas).flatMap(([name, schema]) => [
      `New${name}`,
      ...ownMembers(schema).map((member) => `${name}${member}`),
    ]);
    expect(made.filter((name) => names.has(folded(name)))).toEqual([]);
  });

  test('no value is in two enumerations with a name, which Go makes constants of', () => {
    const values = Object.entries(schemas).flatMap(([name, each]) =>
      (each.enum ?? []).map((value) => [folded(value), name] as const),
    );
    const twice = values.filter(([value], place) => values.findIndex(([other]) => other === value) !== place);
    expect(twice).toEqual([]);
  });

  test('no members of a schema, values of an enumeration or parameters differ by case and punctuation alone', () => {
    const clashes = (names: unknown[]) => new Set(names.map(folded)).size !== names.length;
    for (const [at, { properties = {}, enum: values = [] }] of allSchemas()) {
      expect(clashes(Object.keys(properties)), at).toBe(false);
      expect(clashes(values), at).toBe(false);
    }
    for (const { path, operation } of operations) {
      const { parameters = [] } = operation as { parameters?: unknown[] };
      const names = parameters.map((each) => resolve<{ name: string }>(document, each).value.name);
      expect(clashes(names), path).toBe(false);
    }
  });

  test('every integer has 64 bits, or a maximum below 2^31', () => {
    const narrow = allSchemas().filter(
      ([, { type, format, maximum = Number.POSITIVE_INFINITY }]) =>
        type === 'integer' && format !== 'int64' && maximum >= 2 ** 31,
    );
    expect(narrow.map(([at]) => at)).toEqual([]);
  });

  test('no schema mixes anyOf, allOf over alternatives, or members with a map of others', () => {
    for (const [at, schema] of allSchemas()) {
      expect(schema.anyOf, `${at}: ogen has no anyOf`).toBeUndefined();
      const parts = ((schema.allOf as Schema[] | undefined) ?? []).map(
        (part) => resolve<Schema>(document, part).value,
      );
      expect(
        parts.some((part) => part.oneOf),
        `${at}: alternatives are merged`,
      ).toBe(false);
      const isMap = typeof schema.additionalProperties === 'object';
      expect(isMap && schema.properties !== undefined, `${at}: an index signature has one type`).toBe(false);
    }
  });

  test('every pattern holds for the whole text: some languages match it from the start, others anywhere', () => {
    const loose = allSchemas().filter(([, { pattern = '^$' }]) => !/^\^.*\$$/s.test(String(pattern)));
    expect(loose.map(([at]) => at)).toEqual([]);
  });

  test('no required member is null in place of a list or an object, which java refuses', () => {
    for (const [at, { required = [], properties = {} }] of allSchemas())
      for (const name of required as string[]) {
        const member = resolve<Schema>(document, properties[name] ?? {}).value;
        const isOfParts = member.type === 'array' || member.type === 'object';
        expect(isOfParts && member.nullable, `${at}/${name}`).not.toBe(true);
      }
  });

  test('every body has a schema with a name, and another one in each media type', () => {
    for (const { operation } of operations) {
      const names = Object.entries(requestContent(operation.requestBody)).map(([type, { schema }]) => {
        expect(schema.$ref, `${operation.operationId} ${type}`).toBeDefined();
        return nameOf(schema);
      });
      const objects = names.filter((name) => name !== 'Binary');
      expect(new Set(objects).size, operation.operationId).toBe(objects.length);
    }
  });

  test('a JSON body is the only one, or Python drops what is not of a class without a word', () => {
    for (const { operation } of operations) {
      const types = Object.keys(requestContent(operation.requestBody));
      if (types.includes('application/json')) expect(types, operation.operationId).toHaveLength(1);
    }
  });

  test('every JSON body has to be sent, because none may mean more than an empty one', () => {
    const optional = operations.filter(({ operation }) => {
      if (!requestContent(operation.requestBody)['application/json']) return false;
      return resolve<{ required?: boolean }>(document, operation.requestBody).value.required !== true;
    });
    expect(optional.map(({ operation }) => operation.operationId)).toEqual([]);
  });

  test('no schema with a name is a text by the name of another one, which java takes for an object', () => {
    const aliases = Object.entries(schemas).filter(([, { type, allOf }]) => {
      const parts = ((allOf ?? []) as Schema[]).map((part) => resolve<Schema>(document, part).value);
      return !type && parts.some((part) => part.type === 'string');
    });
    expect(aliases.map(([name]) => name)).toEqual([]);
  });

  test('no schema of a request has alternatives, which java cannot send', () => {
    const requested = requestSchemas(document);
    const found = allSchemas().filter(
      ([at, { oneOf }]) => oneOf && requested.has(/^\/components\/schemas\/([^/]+)/.exec(at)?.[1] ?? ''),
    );
    expect(found.map(([at]) => at)).toEqual([]);
  });

  test('a form post with a file is an object, which ogen and browsers send', () => {
    for (const { operation } of operations) {
      const form = requestContent(operation.requestBody)['multipart/form-data'];
      if (form)
        expect(resolve<Schema>(document, form.schema).value.type, operation.operationId).toBe('object');
    }
  });

  test('a schema that several responses send is sent by responses with a name', () => {
    const inline = operations.flatMap(({ operation }) =>
      Object.entries(operation.responses).flatMap(([status, response]) => {
        const { content = {}, headers } = response as ResponseObject;
        const json = (content['application/json']?.schema ?? {}) as Schema;
        return json.$ref && headers ? [[nameOf(json), `${operation.operationId} ${status}`] as const] : [];
      }),
    );
    const named = Object.values(document.components.responses ?? {}).map((response) =>
      nameOf(((response as ResponseObject).content?.['application/json']?.schema ?? {}) as Schema),
    );
    const one = inline.filter(
      ([name], place) => inline.findIndex(([other]) => other === name) !== place || named.includes(name),
    );
    expect(one.filter(([name]) => name !== 'CodeStatus')).toEqual([]);
  });

  test('every operation that may succeed has the media type of its success', () => {
    for (const { operation } of operations) {
      const successes = Object.entries(operation.responses).filter(([status]) => status.startsWith('2'));
      expect(successes.length, operation.operationId).toBeGreaterThan(0);
      expect(operation.responses.default, operation.operationId).toBeUndefined();
    }
  });

  test('no schema of a response refuses members that a later version adds; contents are also requests', () => {
    const requested = requestSchemas(document);
    const contents = JSON.stringify(schemas.Content?.['x-types']);
    const closed = allSchemas()
      .filter(([, { additionalProperties }]) => additionalProperties === false)
      .map(([at]) => at.match(/^\/components\/schemas\/([^/]+)/)?.[1] ?? at);
    const parts = [
      ...['DataController', 'Retention', 'ThirdParty', 'PublicForm', 'LayoutContext'],
      ...['CampaignSelectionInput', 'CampaignContext', 'CampaignHours'],
    ];
    const refused = closed.filter(
      (name) => !(requested.has(name) || contents.includes(`/${name}"`) || parts.includes(name)),
    );
    expect(refused).toEqual([]);
  });

  test('what a form shows has the members of all contents', () => {
    const { properties: shown = {}, ...rest } = schemas.ShownContent ?? {};
    const contents = ['Information', 'Processing', 'Preference', 'Conditions'].map(
      (type) => schemas[`${type}Content`],
    );
    const members = contents.flatMap((content) => Object.keys(content?.properties ?? {}));
    expect(Object.keys(shown).toSorted()).toEqual([...new Set(members)].toSorted());
    expect(rest).toMatchObject({ type: 'object', required: ['lang'] });
  });

  test('every schema, parameter, header and response is used', () => {
    const whole = JSON.stringify(document);
    for (const kind of ['schemas', 'parameters', 'headers', 'responses', 'requestBodies'])
      for (const name of Object.keys(document.components[kind] ?? {}))
        expect(whole, name).toContain(`"#/components/${kind}/${name}"`);
  });
});
