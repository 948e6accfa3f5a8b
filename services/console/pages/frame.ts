import type { Context } from 'koa';

interface FramedDocument {
  html: string;
  type?: string;
  status?: number;
}

/**
 * The policy of a page in a frame: its own styles and images, no script, no sending. The styles of a mail are
 * inline, because programs for mail drop others.
 */
export function setFramePolicy(ctx: Context, type: string): void {
  const styles = type === 'email' ? "'self' 'unsafe-inline'" : "'self'";
  const sources = `img-src 'self' data:; font-src 'self'; frame-src 'self'; frame-ancestors 'self'`;
  ctx.set('Content-Security-Policy', `default-src 'none'; style-src ${styles}; ${sources}; sandbox`);
}

/** Sends a document for a frame. @param type of the entry that it shows. */
export function sendFrame(ctx: Context, { html, type = '', status = 200 }: FramedDocument): void {
  ctx.status = status;
  ctx.type = 'text/html; charset=utf-8';
  setFramePolicy(ctx, type);
  ctx.body = html;
}
