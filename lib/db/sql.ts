import { createHash } from 'node:crypto';

/** SQL with its values kept apart, so that no value is parsed as SQL. Made by {@link sql}. */
export interface Statement {
  /** The literal pieces, with one value between each two. */
  readonly pieces: readonly string[];
  readonly values: readonly unknown[];
}

/** A statement for pg: text with numbered parameters, and the name of its prepared statement. */
export interface CompiledStatement {
  text: string;
  values: unknown[];
  /** Absent beyond {@link maxPrepared} texts; such statements are parsed each time. */
  name?: string;
}

interface Compiled {
  text: string;
  name: string | undefined;
}

/**
 * A connection keeps prepared statements until it ends, so generated texts must not fill it. The templates of
 * all services are fewer.
 */
const maxPrepared = 1_000;

/** Made by {@link sql} alone: input is never an instance. */
class MadeStatement implements Statement {
  readonly pieces: readonly string[];
  readonly values: readonly unknown[];

  constructor(pieces: readonly string[], values: readonly unknown[]) {
    this.pieces = pieces;
    this.values = values;
  }
}

const byTemplate = new WeakMap<readonly string[], Compiled>();
const byText = new Map<string, Compiled>();

/**
 * A statement or a part of one: an interpolated statement becomes part of the text, any other value a
 * parameter. `undefined` is NULL, a plain object becomes JSON, an array a PostgreSQL array: write a JSON
 * array as `${JSON.stringify(list)}::jsonb`, and a list of alternatives as `= ANY(${ids})`.
 * @example db.query<{ id: string }>(sql`SELECT r.id FROM records AS r WHERE r.subject = ${subject}`)
 */
export function sql(template: TemplateStringsArray, ...inputs: unknown[]): Statement {
  return merge(template, inputs);
}

function merge(template: readonly string[], inputs: readonly unknown[]): Statement {
  if (!inputs.some(isStatement)) return new MadeStatement(template, inputs);
  let shape = shapeOf(template, shapes);
  const values: unknown[] = [];
  for (const input of inputs) {
    const isPart = isStatement(input);
    shape = shapeOf(isPart ? input.pieces : value, shape.next);
    if (isPart) values.push(...input.values);
    else values.push(input);
  }
  shape.pieces ??= mergePieces(template, inputs);
  return new MadeStatement(shape.pieces, values);
}

/** Caches the merged pieces of a template that contains the same statements in the same places. */
interface Shape {
  pieces?: readonly string[];
  next: WeakMap<object, Shape>;
}

const shapes = new WeakMap<object, Shape>();
/** Stands for a parameter. */
const value = {};

function shapeOf(key: object, known: WeakMap<object, Shape>): Shape {
  let shape = known.get(key);
  if (!shape) {
    shape = { next: new WeakMap() };
    known.set(key, shape);
  }
  return shape;
}

function mergePieces(template: readonly string[], inputs: readonly unknown[]): string[] {
  const pieces = [template[0] ?? ''];
  const append = (text: string) => pieces.push(`${pieces.pop()}${text}`);
  inputs.forEach((input, index) => {
    const rest = template[index + 1] ?? '';
    if (!isStatement(input)) {
      pieces.push(rest);
      return;
    }
    append(input.pieces[0] ?? '');
    pieces.push(...input.pieces.slice(1));
    append(rest);
  });
  return pieces;
}

/** Joins statements, such as conditions: `join(conditions, ' AND ')`. @param separator never from input. */
export function join(parts: readonly Statement[], separator = ', '): Statement {
  const template = ['', ...Array(Math.max(parts.length - 1, 0)).fill(separator), ''];
  return merge(template, parts.length > 0 ? parts : [empty]);
}

/** No SQL. */
export const empty: Statement = sql``;

/** Compiles a statement for pg. */
export function compile({ pieces, values }: Statement): CompiledStatement {
  const known = byTemplate.get(pieces);
  const { text, name } = known ?? number(pieces);
  return name === undefined ? { text, values: [...values] } : { text, values: [...values], name };
}

function number(pieces: readonly string[]): Compiled {
  const text = pieces.reduce((before, piece, index) => `${before}$${index}${piece}`);
  let compiled = byText.get(text);
  if (!compiled) {
    const prepared = byText.size < maxPrepared;
    compiled = { text, name: prepared ? nameOf(text) : undefined };
    if (prepared) byText.set(text, compiled);
  }
  byTemplate.set(pieces, compiled);
  return compiled;
}

function nameOf(text: string): string {
  return `accord_${createHash('sha256').update(text).digest('hex').slice(0, 32)}`;
}

function isStatement(input: unknown): input is Statement {
  return input instanceof MadeStatement;
}
