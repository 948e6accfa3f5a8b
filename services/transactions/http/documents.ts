import { fail } from '#lib/errors/fail.ts';
import type { OperationHandlers } from '#lib/http/operation.ts';
import { documentTypeOf } from '../documents/document-type.ts';
import { insertDocument, readDocument } from '../documents/store.ts';
import { requireAccess } from '../transaction/access.ts';
import { readTransaction } from '../transaction/store.ts';
import type { Dependencies } from './dependencies.ts';

const extensions = { 'application/pdf': 'pdf', 'image/jpeg': 'jpg', 'image/png': 'png' } as const;

/** Scans of answers on paper: /consents/documents, /consents/{txid}/document */
export function documentHandlers({ db, documents }: Dependencies) {
  return {
    async uploadDocument(ctx, { body = Buffer.alloc(0) }) {
      const mediaType = documentTypeOf(body);
      if (!mediaType || mediaType !== ctx.request.type.toLowerCase())
        throw fail('invalid', 'The document must be a PDF, JPEG or PNG file, as its media type says.');
      const sha256 = await insertDocument(db, documents, { mediaType, body });
      ctx.status = 201;
      ctx.body = { sha256, mediaType, size: body.length };
    },

    /**
     * Sent as a file: a browser shows no foreign document as a page of this instance. A link that is printed
     * or mailed with a receipt does not open it.
     */
    async getDocument(ctx, { params, principal }) {
      const read = requireAccess(principal, await readTransaction(db, params.txid), 'task');
      const document = await readDocument(db, documents, read.transaction.id);
      if (!document) throw fail('not-found', 'The transaction has no document.');
      ctx.type = document.mediaType;
      ctx.attachment(`scan-${read.transaction.id}.${extensions[document.mediaType]}`);
      ctx.set('Cache-Control', 'private, no-store');
      ctx.body = document.body;
    },
  } satisfies OperationHandlers;
}
