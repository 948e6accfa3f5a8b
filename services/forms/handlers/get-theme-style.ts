import { LRUCache } from 'lru-cache';
import { fail } from '#lib/errors/fail.ts';
import type { Handler } from '#lib/http/operation.ts';
import { type EncodedBody, encodeOnce } from '#lib/http/send-encoded.ts';
import { isEntryId } from '../domain/model-key.ts';
import { scopeThemeCss } from '../domain/theme-css.ts';
import { readThemeCss } from '../queries/theme-css.ts';
import type { Dependencies } from './dependencies.ts';
import { sendFile } from './send-file.ts';

/** GET /assets/themes/{key}/{file}: `<serial>.css`; previews of drafts ask for `<version id>.css`. */
export function getThemeStyleHandler({ db }: Dependencies): Handler {
  const scoped = new LRUCache<string, EncodedBody>({ max: 100 });
  return async (ctx, { params }) => {
    const { key = '', file = '' } = params;
    const name = file.endsWith('.css') ? file.slice(0, -'.css'.length) : '';
    const known = scoped.get(`${key}/${name}`);
    const css = known ?? (await readScoped(key, name));
    const immutable = !isEntryId(name);
    if (immutable) scoped.set(`${key}/${name}`, css);
    await sendFile(ctx, { body: css, type: 'text/css; charset=utf-8', immutable });
  };

  async function readScoped(key: string, name: string): Promise<EncodedBody> {
    const css = await readThemeCss(db, key, name);
    if (css === undefined) throw fail('not-found', 'There is no such style sheet.');
    return encodeOnce(scopeThemeCss(css));
  }
}
