import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import type { Context } from 'koa';
import Negotiator from 'negotiator';

/** A body that never changes, with its compressed forms. */
export interface EncodedBody {
  plain: Buffer;
  /** Compressed when it is first asked for, and kept. */
  as(coding: Coding): Promise<Buffer>;
}

type Coding = 'br' | 'gzip';
/** The smaller one first. */
const codings: Coding[] = ['br', 'gzip'];

/** The last two of Brotli's eleven steps take ten times as long and save a few per cent: too much for somebody who waits. */
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
 * @param etag strong validator of the plain body, with quotes; every coding has its own, as RFC 9110 §8.8.3.3 asks.
 */
export async function sendEncoded(ctx: Context, body: EncodedBody, etag?: string): Promise<void> {
  const headers = { 'accept-encoding': ctx.get('accept-encoding') };
  const accepted = new Negotiator({ headers }).encodings(codings);
  const coding = codings.find((each) => accepted.includes(each));
  ctx.vary('Accept-Encoding');
  if (etag) ctx.set('ETag', coding ? `${etag.slice(0, -1)}-${coding}"` : etag);
  ctx.status = 200;
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  if (coding) ctx.set('Content-Encoding', coding);
  ctx.body = coding ? await body.as(coding) : body.plain;
}
