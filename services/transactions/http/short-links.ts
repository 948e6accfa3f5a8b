import { fail } from '#lib/errors/fail.ts';
import type { OperationHandlers } from '#lib/http/operation.ts';
import { newUuid } from '#lib/ids/random-ids.ts';
import { keepQuery } from '#lib/pages/kept-query.ts';
import { readChoicesLink } from '../choices/links-store.ts';
import { noSuchTransaction, requireAccess } from '../transaction/access.ts';
import { redeemLink } from '../transaction/links.ts';
import { readShortCode } from '../transaction/short-link.ts';
import { readShortLink, storeShortLink } from '../transaction/short-links-store.ts';
import { readTransaction } from '../transaction/store.ts';
import type { Dependencies } from './dependencies.ts';
import { redirectFrame } from './send.ts';

/** /l/{code}, /consents/{txid}/link */
export function shortLinkHandlers(dependencies: Dependencies) {
  const { db, shortCodes, countLink, forgetLink, instance, choicesTokens } = dependencies;
  return {
    /** A try is counted before the code is looked up, so that parallel guesses cannot exceed the limit. */
    async openShortLink(ctx, { params }) {
      await countLink(ctx);
      const code = readShortCode(params.code);
      const digests = code === undefined ? [] : shortCodes.digestsOf(code);
      const read = await readShortLink(db, digests);
      const url = read ? redeemLink(dependencies, read, read.link) : await urlOfChoices(digests);
      if (!url) throw fail('not-found', 'This link is not known, or has ended.');
      await forgetLink(ctx);
      redirectFrame(ctx, keepQuery(url, ctx.query));
    },

    async createShortLink(ctx, { params, principal }) {
      const read = requireAccess(principal, await readTransaction(db, params.txid), 'result');
      if (read.transaction.erasedAt) throw noSuchTransaction();
      const { url, expiresAt } = await storeShortLink(dependencies, read, { id: newUuid(), use: 'tx' });
      ctx.status = 201;
      ctx.set('Location', url);
      ctx.body = { url, expires: expiresAt.toISOString() };
    },
  } satisfies OperationHandlers;

  /** The page of a link to choices, also of one that has ended. */
  async function urlOfChoices(digests: readonly Buffer[]): Promise<string | undefined> {
    const link = await readChoicesLink(db, digests);
    return link && `${instance.baseUrl}/choices/open?t=${choicesTokens.mintLink(link)}`;
  }
}
