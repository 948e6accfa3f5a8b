import type { Context } from 'koa';
import type { VerifyPage } from '#lib/contracts/pages.ts';
import { countParts, readMultipart } from '#lib/http/multipart.ts';
import type { OperationHandlers } from '#lib/http/operation.ts';
import { preferredMode, sendPage } from '#lib/http/send.ts';
import { attachedJws } from '#lib/jose/attached-jws.ts';
import { askedColorScheme } from '#lib/pages/color-scheme.ts';
import { isGenuine } from '../receipts/genuine.ts';
import type { Dependencies } from './dependencies.ts';
import { readerLanguages } from './send.ts';

/** /verify: whether a shown receipt is genuine, and nothing else about it. */
export function verifyHandlers(dependencies: Dependencies) {
  const { db } = dependencies;
  return {
    async getVerifyPage(ctx) {
      await sendVerify(ctx, dependencies, {});
    },

    async verifyReceipt(ctx, { body = Buffer.alloc(0) }) {
      const file = ctx.is('multipart/form-data') ? await fileIn(ctx, body) : body;
      const jws = file && jwsIn(file);
      const genuine = jws !== undefined && (await isGenuine(db, jws));
      if (preferredMode(ctx.get('accept')) === 'html')
        return sendVerify(ctx, dependencies, { outcome: jws ? (genuine ? 'genuine' : 'not') : 'none' });
      ctx.body = { genuine };
    },
  } satisfies OperationHandlers;
}

/** The signed receipt in a PDF, or the file itself. */
function jwsIn(file: Buffer): string | undefined {
  if (file.subarray(0, 5).toString('latin1') === '%PDF-') return attachedJws(file);
  const text = file.toString('latin1').trim();
  return /^[\w-]+\.[\w-]+\.[\w-]+$/.test(text) ? text : undefined;
}

/** The file of the page's form. */
async function fileIn(ctx: Context, body: Buffer): Promise<Buffer | undefined> {
  const type = ctx.get('content-type');
  countParts(body, type);
  const file = (await readMultipart(body, type)).get('receipt');
  return file instanceof File ? Buffer.from(await file.arrayBuffer()) : undefined;
}

async function sendVerify(
  ctx: Context,
  { forms, instance }: Dependencies,
  shown: Omit<VerifyPage, 'page'>,
): Promise<void> {
  const { html } = await forms.renderPage({
    page: { page: 'verify', ...shown },
    languages: readerLanguages(ctx, undefined, instance.language),
    colorScheme: askedColorScheme(ctx.query.colorScheme),
  });
  ctx.vary('Accept-Language');
  sendPage(ctx, html, { formTargets: [instance.baseUrl], compress: true });
}
