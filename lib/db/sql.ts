import { createHash } from 'node:crypto';

/** SQL with its values apart, so that no value is ever read as SQL. Made by {@link sql}. */
export interface Statement {
  /** The literal pieces; between each two of them stands one value. */
  readonly pieces: readonly string[];
  readonly values: readonly unknown[];
}

/** What pg takes: the text with numbered parameters and the name under which a connection keeps it parsed. */
export interface CompiledStatement {
  text: string;
  values: unknown[];
  /** Absent for texts beyond the {@link maxPrepared}th, which are parsed anew each time. */
  name?: string;
}

interface Compiled {
  text: string;
  name: string | undefined;
}

/** A connection keeps what it prepared until it ends, so a text that is put together ever anew must not be named. */
const maxPrepared = 500;

/** Marks what {@link sql} made: no input from outside can carry it. */
const made = Symbol('statement');
const byTemplate = new WeakMap<readonly string[], Compiled>();
const byText = new Map<string, Compiled>();

/**
 * A statement, or a part of one: an interpolated statement becomes part of the text, anything else a parameter.
 * `undefined` is NULL, a plain object becomes JSON, an array becomes an array of PostgreSQL: for a JSON array write
 * `${JSON.stringify(list)}::jsonb`, for a list of alternatives `= ANY(${ids})`.
 *
 * @example db.query<{ id: string }>(sql`SELECT r.id FROM records AS r WHERE r.subject = ${subject}`)
 */
export function sql(template: TemplateStringsArray, ...inputs: unknown[]): Statement {
  if (!inputs.some(isStatement)) return statementOf(template, inputs);
  let shape = shapeOf(template, shapes);
  for (const input of inputs) shape = shapeOf(isStatement(input) ? input.pieces : value, shape.next);
  shape.pieces ??= mergePieces(template, inputs);
  return statementOf(
    shape.pieces,
    inputs.flatMap((input) => (isStatement(input) ? input.values : [input])),
  );
}

/** A template with certain statements in certain places has the same pieces each time: they are put together once. */
interface Shape {
  pieces?: readonly string[];
  next: WeakMap<object, Shape>;
}

const shapes = new WeakMap<object, Shape>();
/** Stands for an input that is a parameter. */
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

/** Puts statements in a row, e.g. conditions: `join(conditions, ' AND ')`. @param separator SQL of our own. */
export function join(parts: readonly Statement[], separator = ', '): Statement {
  const template = ['', ...Array(Math.max(parts.length - 1, 0)).fill(separator), ''];
  return sql(template as unknown as TemplateStringsArray, ...(parts.length > 0 ? parts : [empty]));
}

/** Nothing, for the branch that adds no SQL. */
export const empty: Statement = sql``;

/** Turns a statement into what pg takes. */
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
  return typeof input === 'object' && input !== null && made in input;
}

function statementOf(pieces: readonly string[], values: readonly unknown[]): Statement {
  return { pieces, values, [made]: true } as Statement;
}
