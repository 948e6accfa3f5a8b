/** An OpenAPI 3.0 schema, as far as the reference page shows it. */
export interface Schema {
  $ref?: string;
  type?: string;
  format?: string;
  nullable?: boolean;
  description?: string;
  enum?: unknown[];
  default?: unknown;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  additionalProperties?: boolean | Schema;
  oneOf?: Schema[];
  anyOf?: Schema[];
  allOf?: Schema[];
}

/** One member of a body, as a row of a table. */
export interface SchemaRow {
  /** `layoutData.elements[]` */
  path: string;
  type: string;
  required: boolean;
  description: string;
}

export type Resolve = <Node>(node: Node | { $ref: string }) => Node;

/** Enough for every body of the contract; also ends recursive schemas. */
const maxDepth = 3;

/** The members of a schema. Nested members follow their parent, with its path as a prefix. */
export function schemaRows(
  schema: Schema | undefined,
  resolve: Resolve,
  prefix = '',
  depth = 0,
): SchemaRow[] {
  const whole = merged(schema, resolve);
  if (whole.type === 'array' && prefix === '') return schemaRows(whole.items, resolve, '[]', depth);
  const isRequired = ([name]: [string, Schema]) => (whole.required?.includes(name) ? 0 : 1);
  const members = Object.entries(whole.properties ?? {}).sort((a, b) => isRequired(a) - isRequired(b));
  return members.flatMap(([name, member]) => {
    const path = prefix ? `${prefix}.${name}` : name;
    const resolved = merged(member, resolve);
    const items = resolved.type === 'array' ? merged(resolved.items, resolve) : null;
    const row = {
      path,
      type: typeName(member, resolve),
      required: whole.required?.includes(name) ?? false,
      description: member.description ?? resolved.description ?? '',
    };
    if (depth >= maxDepth) return [row];
    return [row, ...schemaRows(items ?? resolved, resolve, items ? `${path}[]` : path, depth + 1)];
  });
}

/** `string (date-time)`, `array of string`, `"VERTICAL" | "HORIZONTAL"`. */
export function typeName(schema: Schema | undefined, resolve: Resolve): string {
  const whole = merged(schema, resolve);
  if (whole.enum) return whole.enum.map((value) => JSON.stringify(value)).join(' | ');
  const choices = whole.oneOf ?? whole.anyOf;
  if (choices) return choices.map((choice) => typeName(choice, resolve)).join(' | ');
  if (whole.type === 'array') return `array of ${typeName(whole.items, resolve)}`;
  const map = whole.additionalProperties;
  if (map && typeof map === 'object') return `map of ${typeName(map, resolve)}`;
  const name = whole.type ?? (whole.properties ? 'object' : 'any');
  return `${name}${whole.format ? ` (${whole.format})` : ''}${whole.nullable ? ' | null' : ''}`;
}

/** A schema with its reference resolved and its `allOf` merged. */
function merged(schema: Schema | undefined, resolve: Resolve, depth = 0): Schema {
  const whole = resolve<Schema>(schema ?? {});
  if (!whole.allOf || depth > maxDepth) return whole;
  const parts = whole.allOf.map((part) => merged(part, resolve, depth + 1));
  return {
    ...Object.assign({}, ...parts, whole),
    // The schema's own members come first.
    properties: Object.assign(
      {},
      whole.properties,
      ...parts.map((part) => part.properties),
      whole.properties,
    ),
    required: [...parts, whole].flatMap((part) => part.required ?? []),
  };
}
