import type { Handler, OperationInput } from '#lib/http/operation.ts';
import { sendPage } from '#lib/http/security-headers.ts';
import { withColorScheme } from '#lib/pages/color-scheme.ts';
import { readContext } from '../commands/read-context.ts';
import { validRecords } from '../domain/earlier-answers.ts';
import { layoutReference } from '../domain/layout-reference.ts';
import { previewPage } from '../presenters/preview-page.ts';
import { readEarlier } from '../queries/read-earlier.ts';
import { readNow } from '../queries/read-now.ts';
import type { Dependencies } from './dependencies.ts';
import { readerLanguages } from './reader-languages.ts';

/** POST /consents/preview: the form of a context as its subject would see it, without a transaction. */
export function previewFormHandler(dependencies: Dependencies): Handler {
  const { db, forms, instance, defaultLanguage, embedOrigins } = dependencies;
  return async (ctx, { body, principal }: OperationInput<Record<string, unknown>>) => {
    // A preview needs no subject (openapi.yaml); without one there are no earlier answers to show.
    const named = typeof body.subject === 'string' && body.subject.trim() !== '';
    const context = readContext(named ? body : { ...body, subject: 'preview' }, principal);
    const { layout } = await forms.resolveLayout(layoutReference(context));
    const languages = readerLanguages(ctx, context.language, defaultLanguage);
    const description = await forms.describeForm({ layout, languages });
    const earlier =
      context.silent || !named
        ? []
        : await readEarlier(db, context.subject, context.object ?? '', layout.elements);
    const valid = validRecords(earlier, description.active, await readNow(db));
    const page = previewPage({ context, layout, description, valid, instance });
    const { html } = await forms.renderPage({ model: withColorScheme(page, ctx.query.colorScheme) });
    sendPage(ctx, html, { frameAncestors: `'self' ${context.iframeOrigin ?? embedOrigins}` });
  };
}
