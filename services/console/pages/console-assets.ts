import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Middleware } from 'koa';
import { type Assets, createAssetSet } from '#lib/http/assets.ts';
import { sendEncoded } from '#lib/http/send.ts';
import { consolePath } from './navigation.ts';

/** The files that pages of the console load, as they stand: there is no build step. */
export function createConsoleAssets(): Assets {
  return createAssetSet(`${consolePath}/assets`, {
    'console.css': [read(import.meta.resolve('#lib/pages/tokens.css')), own('console.css')],
    'console.js': [own('console.js')],
    'unsent.js': [own('unsent.js')],
    'htmx.js': [read(import.meta.resolve('htmx.org/dist/htmx.min.js'))],
    'sortable.js': [read(import.meta.resolve('sortablejs/Sortable.min.js'))],
    'squire.js': [read(import.meta.resolve('squire-rte/dist/squire.js'))],
    'rich-text.css': [own('rich-text.css')],
    'rich-text.js': [own('rich-text.js')],
    // Imported by name.
    'rich-link.js': [own('rich-link.js')],
    'rich-tree.js': [own('rich-tree.js')],
  });
}

/** Sends a file by its path, to anyone: pages before a sign-in load it too. */
export function sendAssets(assets: Assets): Middleware {
  return async (ctx, next) => {
    const asset = ctx.method === 'GET' || ctx.method === 'HEAD' ? assets.get(ctx.path) : null;
    if (!asset) return next();
    ctx.set('Cache-Control', asset.immutable ? 'public, max-age=31536000, immutable' : 'no-cache');
    ctx.type = asset.type;
    await sendEncoded(ctx, asset.body, asset.etag);
  };
}

function own(file: string): string {
  return readFileSync(new URL(`../assets/${file}`, import.meta.url), 'utf8');
}

function read(url: string): string {
  return readFileSync(fileURLToPath(url), 'utf8').replace(/^\/\/# sourceMappingURL=.*$/m, '');
}
