import type { Context } from 'koa';

/** A file that a browser may fetch and keep. */
export interface PublicFile {
  body: Buffer | string;
  /** Media type, with charset. */
  type: string;
  /** Strong validator, with quotes; a file that never changes needs none. */
  etag?: string;
  /** Never changes: kept for a year. Else looked at again each time. */
  immutable: boolean;
}

/** Sends a file, or 304 if the browser has it. Pages of any origin may use it: host pages load `embed.js`. */
export function sendFile(ctx: Context, { body, type, etag, immutable }: PublicFile): void {
  ctx.set('Cache-Control', immutable ? 'public, max-age=31536000, immutable' : 'no-cache');
  ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
  if (etag) ctx.set('ETag', etag);
  ctx.status = 200;
  if (ctx.fresh) {
    ctx.status = 304;
    return;
  }
  ctx.type = type;
  ctx.body = body;
}
