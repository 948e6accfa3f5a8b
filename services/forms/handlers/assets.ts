import type { Context } from 'koa';
import { LRUCache } from 'lru-cache';
import { fail } from '#lib/errors/fail.ts';
import type { Asset } from '#lib/http/assets.ts';
import type { OperationHandlers } from '#lib/http/operation.ts';
import { type EncodedBody, encodeOnce, sendEncoded } from '#lib/http/send.ts';
import { isEntryId } from '../domain/identifiers.ts';
import { scopeThemeCss } from '../domain/theme-css.ts';
import { readLogo, readThemeCss } from '../queries/theme-files.ts';
import type { Dependencies } from './dependencies.ts';

/** Handlers of the files under `/assets/`. */
export function assetHandlers({ assets, db }: Dependencies) {
  const scopedCss = new LRUCache<string, EncodedBody>({ max: 100 });

  async function readScopedCss(key: string, name: string): Promise<EncodedBody> {
    const css = await readThemeCss(db, key, name);
    if (css === undefined) throw fail('not-found', 'Style sheet not found.');
    return encodeOnce(await scopeThemeCss(css));
  }

  return {
    async getAsset(ctx) {
      const asset = assets.get(ctx.path);
      if (!asset) throw fail('not-found', 'File not found.');
      await sendFile(ctx, asset);
    },

    /** `{file}` is `<serial>.css`, or `<version id>.css` in the preview of a draft, which may change. */
    async getThemeStyle(ctx, { params }) {
      const { key, file } = params;
      const name = file.endsWith('.css') ? file.slice(0, -'.css'.length) : '';
      const immutable = !isEntryId(name);
      const cacheKey = `${key}/${name}`;
      const body = scopedCss.get(cacheKey) ?? (await readScopedCss(key, name));
      if (immutable) scopedCss.set(cacheKey, body);
      await sendFile(ctx, { body, type: 'text/css; charset=utf-8', immutable });
    },

    async getLogo(ctx, { params: { id } }) {
      const logo = isEntryId(id) ? await readLogo(db, id) : undefined;
      if (!logo) throw fail('not-found', 'Image not found.');
      await sendFile(ctx, { body: logo.body, type: logo.mediaType, immutable: true });
    },
  } satisfies OperationHandlers;
}

/** An asset, or a file from the database: texts are compressed, images are sent uncompressed. */
type PublicFile = Pick<Asset, 'type' | 'immutable'> & { body: EncodedBody | Buffer; etag?: string };

/** Sends a file that pages of any origin may load: host pages load `embed.js`. 304 if the browser has it. */
async function sendFile(ctx: Context, { body, type, etag, immutable }: PublicFile): Promise<void> {
  ctx.set('Cache-Control', immutable ? 'public, max-age=31536000, immutable' : 'no-cache');
  ctx.set('Cross-Origin-Resource-Policy', 'cross-origin');
  ctx.type = type;
  if (Buffer.isBuffer(body)) ctx.body = body;
  else await sendEncoded(ctx, body, etag);
}
