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
interface SchemaRow {
  /** `layoutData.elements[]` */
  path: string;
  type: string;
  required: boolean;
  description: string;
}

/** Resolves a reference of the document. */
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
  const full = merged(schema, resolve);
  if (full.type === 'array' && prefix === '') return schemaRows(full.items, resolve, '[]', depth);
  const isRequired = (name: string) => full.required?.includes(name) ?? false;
  const members = Object.entries(full.properties ?? {}).sort(
    ([one], [other]) => Number(isRequired(other)) - Number(isRequired(one)),
  );
  return members.flatMap(([name, member]) => {
    const path = prefix ? `${prefix}.${name}` : name;
    const resolved = merged(member, resolve);
    const items = resolved.type === 'array' ? merged(resolved.items, resolve) : null;
    const row = {
      path,
      type: typeName(member, resolve),
      required: isRequired(name),
      description: member.description ?? resolved.description ?? '',
    };
    if (depth >= maxDepth) return [row];
    return [row, ...schemaRows(items ?? resolved, resolve, items ? `${path}[]` : path, depth + 1)];
  });
}

/** `string (date-time)`, `array of string`, `"VERTICAL" | "HORIZONTAL"`. */
export function typeName(schema: Schema | undefined, resolve: Resolve): string {
  const full = merged(schema, resolve);
  if (full.enum) return full.enum.map((value) => JSON.stringify(value)).join(' | ');
  const choices = full.oneOf ?? full.anyOf;
  if (choices) return choices.map((choice) => typeName(choice, resolve)).join(' | ');
  if (full.type === 'array') return `array of ${typeName(full.items, resolve)}`;
  const map = full.additionalProperties;
  if (map && typeof map === 'object') return `map of ${typeName(map, resolve)}`;
  const name = full.type ?? (full.properties ? 'object' : 'any');
  return `${name}${full.format ? ` (${full.format})` : ''}${full.nullable ? ' | null' : ''}`;
}

/** A schema with its reference resolved and its `allOf` merged. */
function merged(schema: Schema | undefined, resolve: Resolve, depth = 0): Schema {
  const full = resolve<Schema>(schema ?? {});
  if (!full.allOf || depth > maxDepth) return full;
  const parts = full.allOf.map((part) => merged(part, resolve, depth + 1));
  return {
    ...Object.assign({}, ...parts, full),
    // The schema's own members come first.
    properties: Object.assign({}, full.properties, ...parts.map((part) => part.properties), full.properties),
    required: [...parts, full].flatMap((part) => part.required ?? []),
  };
}
