import Negotiator from 'negotiator';
import { rememberByText } from '#lib/memo/remember-by-text.ts';

/** How a reply is represented: a page for a browser, or a document for a client. */
export type Mode = 'html' | 'json';

/**
 * JSON unless the client really prefers HTML; a wildcard alone means JSON (docs/interface.md, "Content negotiation").
 * `neither` when the client accepts neither: a 406.
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

/** `text/*` and a full wildcard do not name HTML: a browser does. */
function namesHtml(accept: string): boolean {
  return /(^|[\s,])(text\/html|application\/xhtml\+xml)\s*(;|,|$)/i.test(accept);
}
