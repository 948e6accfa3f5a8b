import type { Handler } from '#lib/http/operation.ts';
import { uploadLogo } from '../commands/upload-logo.ts';
import type { Dependencies } from './dependencies.ts';

/** PUT /models/{id}/logo */
export function uploadLogoHandler(dependencies: Dependencies): Handler {
  return async (ctx, { params, body }: { params: Record<string, string>; body: Buffer | undefined }) => {
    ctx.body = { logoPath: await uploadLogo(dependencies, params.id ?? '', body ?? Buffer.alloc(0)) };
  };
}
