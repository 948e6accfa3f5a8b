import type { Context } from 'koa';
import Negotiator from 'negotiator';
import { fail } from '#lib/errors/fail.ts';
import { type Mode, preferredMode } from '#lib/http/negotiate.ts';
import type { ContractOperation } from '#lib/http/operation.ts';

/** The media types of an operation's successful answers. Where there is also a 303, that is what a browser gets (docs/interface.md). */
export function producedTypes(operation: ContractOperation): string[] {
  const types = Object.entries(operation.responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, response]) => Object.keys(response.content ?? {}));
  if (types.length > 0 && operation.responses['303']) types.push('text/html');
  return [...new Set(types)];
}

/**
 * Decides how an operation answers. HTML-only operations answer a wildcard with HTML (docs/interface.md).
 * Operations with other media types (receipts) look at Accept themselves.
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
  throw fail('not-acceptable', `This is available as ${types.join(', ')}.`);
}
