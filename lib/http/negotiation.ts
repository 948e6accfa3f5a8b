import type { Context } from 'koa';
import Negotiator from 'negotiator';
import { fail } from '#lib/errors/fail.ts';
import type { ContractOperation, Mode } from '#lib/http/operation.ts';
import { rememberByText } from '#lib/memo/remember-by-text.ts';

/**
 * JSON unless the client prefers HTML; a wildcard alone means JSON (docs/interface.md, "Content negotiation").
 * @returns `neither` if the client accepts neither: a 406.
 */
export function preferredMode(accept: string | undefined): Mode | 'neither' {
  return accept === undefined || accept === '' || accept === '*/*' ? 'json' : readMode(accept);
}

const readMode = rememberByText((accept: string): Mode | 'neither' => {
  const preferred = new Negotiator({ headers: { accept } }).mediaTypes([
    'application/json',
    'text/html',
    'application/problem+json',
  ]);
  if (preferred[0] === undefined) return 'neither';
  if (preferred[0] !== 'text/html') return 'json';
  return namesHtml(accept) ? 'html' : 'json';
});

/** Browsers name HTML; `text/*` and a full wildcard do not. */
function namesHtml(accept: string): boolean {
  return /(^|[\s,])(text\/html|application\/xhtml\+xml)\s*(;|,|$)/i.test(accept);
}

/** The media types of an operation's successful answers, and HTML where browsers get a 303 (docs/interface.md). */
export function producedTypes(operation: ContractOperation): string[] {
  const types = Object.entries(operation.responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, response]) => Object.keys(response.content ?? {}));
  if (types.length > 0 && operation.responses['303']) types.push('text/html');
  return [...new Set(types)];
}

/**
 * Decides whether an operation answers with a page or a document. Operations that produce only HTML answer a wildcard with HTML.
 * Operations with other media types (receipts) read Accept themselves.
 * @throws Failure `not-acceptable`.
 */
export function acceptedMode(ctx: Context, types: string[]): Mode {
  const accept = ctx.get('accept');
  if (types.length === 0) return preferredMode(accept) === 'html' ? 'html' : 'json';
  const html = types.includes('text/html');
  const json = types.includes('application/json');
  if (html && json) {
    const mode = preferredMode(accept);
    if (mode !== 'neither') return mode;
  }
  if (accept === '' || new Negotiator({ headers: { accept } }).mediaType(types) !== undefined)
    return html && !json ? 'html' : 'json';
  throw fail('not-acceptable', `No acceptable media type; available: ${types.join(', ')}.`);
}
