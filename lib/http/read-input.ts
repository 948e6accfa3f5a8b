import type { Context } from 'koa';
import { fail } from '#lib/errors/fail.ts';
import { type Slot, whileIdle } from '#lib/http/admission.ts';
import { clientNetwork } from '#lib/http/client-address.ts';
import type { ContractOperation } from '#lib/http/operation.ts';
import { decodeUtf8, parseJson, readBody } from '#lib/http/request-body.ts';
import { checkText } from '#lib/json/check-json.ts';

const defaultLimit = 64 * 1024;
/** A megabyte takes some 40 ms to parse, and as long to validate and to handle: others wait no longer. */
const longBody = 64 * 1024;
const formType = 'application/x-www-form-urlencoded';

/**
 * Reads and parses the body of an operation by its media type; a form post becomes a map from name to values.
 * `isLong`: other requests should have their turn before the body is used further.
 * @throws Failure `unsupported-media-type`, `too-large`, `malformed`; `unavailable` if all bodies together
 * are too large.
 */
export async function readInput(
  ctx: Context,
  operation: ContractOperation,
): Promise<{ body: unknown; form: boolean; isLong?: boolean }> {
  if (!operation.requestBody) return { body: undefined, form: false };
  const raw = await readRawBody(ctx, operation);
  const type = ctx.request.type.toLowerCase();
  // A POST without a body needs no Content-Type (docs/interface.md).
  if (raw.length === 0 && type === '') return { body: undefined, form: false };
  const accepted = Object.keys(operation.requestBody.content);
  if (!accepted.includes(type))
    throw fail(
      'unsupported-media-type',
      `Unsupported media type; send the body as ${accepted.join(' or ')}.`,
    );
  if (raw.length === 0 && !operation.requestBody.required)
    return { body: undefined, form: type === formType };
  const isLong = raw.length > longBody;
  if (type === formType) return { body: readFields(raw), form: true, isLong };
  if (type === 'application/json') return { body: parseJson(raw), form: false, isLong };
  return { body: raw, form: false };
}

/** Reads the raw body of an operation, which a signature may cover. @throws Failure as {@link readBody}. */
export async function readRawBody(ctx: Context, operation: ContractOperation): Promise<Buffer> {
  return readBodyOf(ctx, operation['x-body-limit'] ?? defaultLimit);
}

/**
 * Reads a request's body once and keeps it. The request releases its slot meanwhile, because the client sets
 * the pace.
 * @throws Failure as {@link readBody}.
 */
export async function readBodyOf(ctx: Context, limit: number): Promise<Buffer> {
  const bodies = (ctx.state.slot as Slot | undefined)?.bodies.of(clientNetwork(ctx));
  const read = () => readBody(ctx.req, limit, bodies);
  ctx.state.rawBody ??= await (ctx.req.complete ? read() : whileIdle(ctx, read));
  return ctx.state.rawBody as Buffer;
}

/** Upper bound of a form post's fields: 100 elements with 50 options each, twice. */
const maxFields = 10_000;

/**
 * Fields of a form post, by name. @throws Failure `malformed` for escapes that are not UTF-8, and texts that
 * PostgreSQL cannot store.
 */
function readFields(raw: Buffer): Record<string, string[]> {
  const byName = new Map<string, string[]>();
  const fields = parseForm(raw);
  checkEscapes(raw.toString());
  for (const [name, value] of fields) {
    checkText(name, '');
    checkText(value, '');
    const values = byName.get(name);
    if (values) values.push(value);
    else byName.set(name, [value]);
  }
  return Object.assign(Object.create(null), Object.fromEntries(byName)) as Record<string, string[]>;
}

/**
 * Parses the body of a form post. @returns its fields in their order. @throws Failure `malformed` for too
 * many fields and for bytes that are not UTF-8.
 */
export function parseForm(raw: Buffer): URLSearchParams {
  countFields(raw);
  return new URLSearchParams(decodeUtf8(raw));
}

const ampersand = Buffer.from('&')[0] as number;

/**
 * Counts the fields of a form post without parsing it, because URLSearchParams takes seconds for 500,000
 * empty ones. @throws Failure `malformed`.
 */
export function countFields(raw: Buffer): void {
  let fields = 1;
  for (let at = raw.indexOf(ampersand); at !== -1; at = raw.indexOf(ampersand, at + 1)) {
    fields += 1;
    if (fields > maxFields) throw fail('malformed', `The body has more than ${maxFields} fields.`);
  }
}

const notAscii = /%[89a-f]/i;

/** Rejects escapes of bytes that are not UTF-8, which URLSearchParams would replace by U+FFFD. */
function checkEscapes(text: string): void {
  if (!notAscii.test(text)) return;
  try {
    decodeURIComponent(text.replaceAll(/%(?![\da-f]{2})/gi, '%25'));
  } catch {
    throw fail('malformed', 'The body is not valid UTF-8.');
  }
}

/**
 * Reads the query parameters of the contract; arrays may be repeated or comma-separated (docs/interface.md).
 */
export function readQuery(
  ctx: Context,
  operation: ContractOperation,
): Record<string, string | string[] | undefined> {
  const query: Record<string, string | string[] | undefined> = Object.create(null);
  for (const parameter of operation.parameters ?? []) {
    if (parameter.in !== 'query') continue;
    const given = ctx.query[parameter.name];
    if (given === undefined) continue;
    if (parameter.schema?.type === 'array')
      query[parameter.name] = [given].flat().flatMap((value) => value.split(','));
    else if (Array.isArray(given) && parameter.name !== 't')
      throw fail('malformed', `The query parameter ${parameter.name} is given more than once.`);
    else query[parameter.name] = Array.isArray(given) ? given[0] : given;
    for (const value of [query[parameter.name] ?? []].flat()) checkText(value, '');
  }
  return query;
}
