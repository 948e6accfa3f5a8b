import type { Context } from 'koa';
import { type EncodedBody, sendEncoded } from '#lib/http/send-encoded.ts';

/** A file that a browser may fetch and keep. */
export interface PublicFile {
  /** Texts are compressed; images are sent as they are. */
  body: EncodedBody | Buffer;
  /** Media type, with charset. */
  type: string;
  /** Strong validator, with quotes; a file that never changes needs none. */
  etag?: string;
  /** Never changes: kept for a year. Else looked at again each time. */
  immutable: boolean;
}

/** Sends a file, or 304 if the browser has it. Pages of any origin may use it: host pages load `embed.js`. */
export async function sendFile(ctx: Context, { body, type, etag, immutable }: PublicFile): Promise<void> {
  ctx.set('Cache-Control', immutable ? 'public, max-age=31536000, immutable' : 'no-cache');
  ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
  ctx.type = type;
  if (Buffer.isBuffer(body)) ctx.body = body;
  else await sendEncoded(ctx, body, etag);
}
