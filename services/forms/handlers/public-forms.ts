import type { Context } from 'koa';
import type { OperationHandlers } from '#lib/http/operation.ts';
import { qrPng, qrSvg } from '#lib/pages/qr-code.ts';
import type { Dependencies } from './dependencies.ts';

/** /models/{id}/qr, /models/{id}/poster */
export function publicFormHandlers({ publicForms }: Pick<Dependencies, 'publicForms'>) {
  return {
    async getFormQrCode(ctx, { params, query }) {
      const { key, url } = await publicForms.find(params.id);
      const isPng = query.format === 'png';
      sendFile(ctx, isPng ? await qrPng(url) : qrSvg(url), `${key}.${isPng ? 'png' : 'svg'}`);
    },

    async getFormPoster(ctx, { params, principal }) {
      const { key, pdf } = await publicForms.poster(params.id, principal.account);
      sendFile(ctx, pdf, `${key}.pdf`);
    },
  } satisfies OperationHandlers;
}

/** Sends a file that a page may show, too. */
function sendFile(ctx: Context, body: Buffer | string, name: string): void {
  ctx.attachment(name, { type: 'inline' });
  ctx.body = body;
}
