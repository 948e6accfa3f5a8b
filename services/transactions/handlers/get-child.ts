import { fail } from '#lib/errors/fail.ts';
import type { Handler } from '#lib/http/operation.ts';
import { requireUpdatable } from '../commands/create-child.ts';
import { noSuchTransaction, requireAccess } from '../domain/access.ts';
import { linksOf, withToken } from '../domain/links.ts';
import { stateAt } from '../domain/states.ts';
import { readAsker } from '../presenters/asker.ts';
import { embeddingOf } from '../presenters/embedding.ts';
import { mintToken } from '../presenters/present-transaction.ts';
import { readOpenChild } from '../queries/children.ts';
import { readTransaction } from '../queries/read-transaction.ts';
import type { Dependencies } from './dependencies.ts';
import { readerLanguages } from './reader-languages.ts';
import { sendTransaction, sendTransactionPage } from './send.ts';

/** GET /consents/{txid}/child: a page with one button, or the open child as JSON. It never creates: mail scanners follow links. */
export function getChildHandler(dependencies: Dependencies): Handler {
  const { db, forms, tokens, instance, defaultLanguage } = dependencies;
  return async (ctx, { params, principal, mode }) => {
    const read = await readTransaction(db, params.txid ?? '');
    if (!read) throw noSuchTransaction();
    const { transaction, now } = read;
    requireAccess(principal, read, 'result');
    if (mode === 'json') {
      const child = await readOpenChild(db, transaction.id);
      if (!child) throw fail('not-found', 'The transaction has no open child.');
      const caller = principal.transaction ? { ...principal, transaction: undefined } : principal;
      return sendTransaction(ctx, dependencies, child, { principal: caller });
    }
    requireUpdatable(read);
    const token = mintToken(tokens, read, principal);
    const languages = readerLanguages(ctx, transaction.context.language, defaultLanguage);
    const language = languages[0] as string;
    const theme = transaction.layout.theme
      ? await forms.theme({ key: transaction.layout.theme, language })
      : null;
    const links = linksOf(instance.baseUrl, transaction.id);
    await sendTransactionPage(ctx, dependencies, read, {
      page: 'child',
      language,
      instance,
      theme,
      asker: (await readAsker(forms, read, languages)).asker,
      embedding: embeddingOf(read),
      state: stateAt(transaction, now),
      links: { child: withToken(links.child, token), transaction: withToken(links.transaction, token) },
    });
  };
}
