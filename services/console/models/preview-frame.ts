import type { Context } from 'koa';

/**
 * The policy of a page in a frame: its own styles and images, no script, no sending. The styles of a mail are
 * inline, because programs for mail drop others.
 */
export function setFramePolicy(ctx: Context, type: string): void {
  const styles = type === 'email' ? "'self' 'unsafe-inline'" : "'self'";
  const sources = `img-src 'self' data:; font-src 'self'; frame-src 'self'; frame-ancestors 'self'`;
  ctx.set('Content-Security-Policy', `default-src 'none'; style-src ${styles}; ${sources}; sandbox`);
}

/** Sends a page of the API for a frame. @param type of the entry that it shows. */
export function sendFrame(ctx: Context, type: string, html: string): void {
  ctx.status = 200;
  ctx.type = 'text/html; charset=utf-8';
  setFramePolicy(ctx, type);
  ctx.body = html;
}
