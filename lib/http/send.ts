import { Readable } from 'node:stream';
import { promisify } from 'node:util';
import {
  brotliCompress,
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  gzip,
  gzipSync,
} from 'node:zlib';
import type { Context } from 'koa';
import Negotiator from 'negotiator';
import { sendNotModified } from '#lib/http/entity-tags.ts';
import type { Mode } from '#lib/http/operation.ts';
import { contentSecurityPolicy, noAncestors } from '#lib/http/security-headers.ts';
import { rememberByText } from '#lib/memo/remember.ts';

/**
 * JSON unless the client prefers HTML; a wildcard alone means JSON (docs/interface.md, "Content
 * negotiation").
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

/** A body that never changes, with its compressed forms. */
export interface EncodedBody {
  plain: Buffer;
  /** Compressed on first use, and kept. */
  as(coding: Coding): Promise<Buffer>;
}

type Coding = 'br' | 'gzip';
/** The smaller result first. */
const codings: Coding[] = ['br', 'gzip'];

const acceptedCoding = rememberByText((accepted: string): Coding | 'identity' => {
  const offered = new Negotiator({ headers: { 'accept-encoding': accepted } }).encodings(codings);
  return codings.find((coding) => offered.includes(coding)) ?? 'identity';
});

/** Qualities 10 and 11 take ten times as long and save a few per cent. */
const brotliQuality = 9;

const compress: Record<Coding, (body: Buffer) => Promise<Buffer>> = {
  br: (body) =>
    promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: brotliQuality } }),
  gzip: (body) => promisify(gzip)(body, { level: 9 }),
};

export function encodeOnce(body: Buffer | string): EncodedBody {
  const plain = Buffer.from(body);
  const made = new Map<Coding, Promise<Buffer>>();
  return {
    plain,
    as(coding) {
      const known = made.get(coding);
      if (known) return known;
      const encoded = compress[coding](plain);
      made.set(coding, encoded);
      encoded.catch(() => made.delete(coding));
      return encoded;
    },
  };
}

/**
 * Sends a body in the smallest coding that the client accepts (RFC 9110 §12.5.3), or 304.
 * @param etag strong validator of the plain body, with quotes; each coding gets its own (RFC 9110 §8.8.3.3).
 */
export async function sendEncoded(ctx: Context, body: EncodedBody, etag?: string): Promise<void> {
  ctx.vary('Accept-Encoding');
  const coding = acceptedCoding(ctx.get('accept-encoding'));
  if (etag) ctx.set('ETag', coding !== 'identity' ? `${etag.slice(0, -1)}-${coding}"` : etag);
  ctx.status = 200;
  if (sendNotModified(ctx)) return;
  if (coding === 'identity') ctx.body = body.plain;
  else {
    ctx.set('Content-Encoding', coding);
    ctx.body = await body.as(coding);
  }
}

/** Smaller pages are not compressed: the headers would be larger than the saving. */
const minCompressedLength = 1024;

/** Longer pages are encoded in pieces and compressed in another thread: the longest form takes 100 ms. */
const maxLengthInTurn = 500_000;
const pieceLength = 65_536;

function* piecesOf(text: string): Generator<Buffer> {
  for (let start = 0, end = 0; start < text.length; start = end) {
    end = start + pieceLength;
    // The second half of a surrogate pair belongs to the first.
    if ((text.codePointAt(end - 1) ?? 0) > 0xffff) end += 1;
    yield Buffer.from(text.slice(start, end));
  }
}

const fastest = {
  br: { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } },
  gzip: { level: 1 },
};

/**
 * Sets a body that was made for this response, compressed at the lowest level: 40 to 60 µs for a page of 7
 * kB, synchronously, because another thread takes more than twice that. Only for pages that are shown without
 * cookies: to guess a secret in them from their length (BREACH), an attacker would need their URL, which
 * holds the secret.
 */
function setPageBody(ctx: Context, html: string): void {
  ctx.vary('Accept-Encoding');
  const coding = html.length < minCompressedLength ? 'identity' : acceptedCoding(ctx.get('accept-encoding'));
  if (coding !== 'identity') ctx.set('Content-Encoding', coding);
  if (coding === 'identity') ctx.body = Buffer.from(html);
  else if (html.length > maxLengthInTurn)
    ctx.body = Readable.from(piecesOf(html)).pipe(
      coding === 'br' ? createBrotliCompress(fastest.br) : createGzip(fastest.gzip),
    );
  else ctx.body = coding === 'br' ? brotliCompressSync(html, fastest.br) : gzipSync(html, fastest.gzip);
}

/**
 * Lets a cross-origin isolated page show a response in a frame: its embedder policy is required of framed
 * documents too, and of the redirections to them (HTML, "Cross-origin embedder policies"). All that pages of
 * Accord load is their own.
 */
export function allowFraming(ctx: Context): void {
  ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
  ctx.set('Cross-Origin-Embedder-Policy', 'require-corp');
}

/**
 * Sends a page with its policy. URLs in pages are built from BASE_URL; a page that may be open under another
 * address of the instance (127.0.0.1 for localhost) needs BASE_URL in `formTargets` and `frameSources`.
 * @param frameAncestors by default the page cannot be embedded.
 * @param inlineStyles only for a page that shows a mail.
 * @param compress only for pages that are shown without cookies ({@link setPageBody}).
 */
export function sendPage(
  ctx: Context,
  html: string,
  {
    status = 200,
    frameAncestors = noAncestors,
    formTargets = [] as readonly string[],
    frameSources = [] as readonly string[],
    compress = false,
    inlineStyles = false,
  } = {},
): void {
  ctx.status = status;
  ctx.type = 'text/html; charset=utf-8';
  ctx.set(
    'Content-Security-Policy',
    contentSecurityPolicy(frameAncestors, formTargets, frameSources, inlineStyles),
  );
  if (frameAncestors !== noAncestors) allowFraming(ctx);
  if (compress) setPageBody(ctx, html);
  else ctx.body = Buffer.from(html);
}
