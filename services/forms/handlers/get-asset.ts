import { fail } from '#lib/errors/fail.ts';
import type { Handler } from '#lib/http/operation.ts';
import type { Dependencies } from './dependencies.ts';
import { sendFile } from './send-file.ts';

/** GET /assets/{file} */
export function getAssetHandler({ assets }: Dependencies): Handler {
  return async (ctx) => {
    const asset = assets.get(ctx.path);
    if (!asset) throw fail('not-found', 'There is no such file.');
    await sendFile(ctx, asset);
  };
}
