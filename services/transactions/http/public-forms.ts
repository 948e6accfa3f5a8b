import type { Context } from 'koa';
import type { EntryPage } from '#lib/contracts/pages.ts';
import { publicFormUrl } from '#lib/contracts/public-forms.ts';
import { Failure, fail } from '#lib/errors/fail.ts';
import type { FormFields, OperationHandlers } from '#lib/http/operation.ts';
import { preferredMode, sendPage } from '#lib/http/send.ts';
import { askedColorScheme } from '#lib/pages/color-scheme.ts';
import { keepQuery, withKeptQuery } from '#lib/pages/kept-query.ts';
import { type FoundPublicForm, findPublicForm, startPublicForm } from '../request/start-public-form.ts';
import { mintLinks } from '../transaction/links.ts';
import { stateAt } from '../transaction/transaction.ts';
import type { Dependencies } from './dependencies.ts';
import { frameAncestors, hereOf, readerLanguages, redirectFrame } from './send.ts';

/** /f/{key} */
export function publicFormHandlers(dependencies: Dependencies) {
  return {
    /** Creates nothing, because mail scanners and previews follow links. */
    async getPublicForm(ctx, { params }) {
      const form = await findPublicForm(dependencies, params.key);
      await sendEntry(ctx, dependencies, form, { status: form.isOver ? 410 : 200 });
    },

    async startPublicForm(ctx, { params, principal, ...sent }) {
      const fields = sent.form ? sent.body : undefined;
      await dependencies.countPublic(ctx);
      const form = await findPublicForm(dependencies, params.key);
      const emailAddress = one(fields, 'emailAddress');
      try {
        requireOpen(form);
        if (one(fields, 'website') !== '') throw trapped();
        const read = await startPublicForm(dependencies, form, { emailAddress, principal });
        const { submit, transaction } = mintLinks(dependencies, read);
        const isOpen = stateAt(read.transaction, read.now) === 'CREATED';
        redirectFrame(ctx, keepQuery(isOpen ? submit : transaction, ctx.query));
      } catch (error) {
        const shown = error instanceof Failure && isPage(ctx) ? shownAgain(error, emailAddress) : undefined;
        if (!shown) throw error;
        await sendEntry(ctx, dependencies, form, shown);
      }
    },
  } satisfies OperationHandlers;
}

function one(fields: FormFields | undefined, name: string): string {
  return fields?.[name]?.[0] ?? '';
}

function requireOpen({ isOver, until }: FoundPublicForm): void {
  if (isOver) throw fail('expired', `The form could be answered until ${until?.toISOString()}.`);
}

function trapped(): Failure {
  const detail = 'must be empty';
  return fail('invalid', 'The form was not sent by a person.', {
    errors: [{ pointer: '/website', code: 'invalid', detail }],
  });
}

function isPage(ctx: Context): boolean {
  return preferredMode(ctx.get('accept')) === 'html';
}

/** What the page shows after a failure; undefined if the page of the failure says it. */
function shownAgain({ code, errors = [] }: Failure, emailAddress: string): Shown | undefined {
  if (code === 'expired') return { status: 410 };
  const field = (['emailAddress', 'website'] as const).find((name) => errors[0]?.pointer === `/${name}`);
  return code === 'invalid' && field ? { status: 422, fault: { field, emailAddress } } : undefined;
}

interface Shown extends Pick<EntryPage, 'fault'> {
  status: number;
}

async function sendEntry(
  ctx: Context,
  dependencies: Dependencies,
  { until, ...form }: FoundPublicForm,
  { status, fault }: Shown,
): Promise<void> {
  const { forms, instance, embedOrigins } = dependencies;
  const { url } = withKeptQuery({ url: publicFormUrl(instance.baseUrl, form.key) }, ctx.query);
  const page: EntryPage = {
    page: 'entry',
    ...form,
    url,
    // The last moment of the last day.
    ...(until && { until: new Date(until.getTime() - 1).toISOString() }),
    ...(fault && { fault }),
  };
  const { html } = await forms.renderPage({
    page,
    languages: readerLanguages(ctx, undefined, instance.language),
    themes: [form.layout.theme],
    colorScheme: askedColorScheme(ctx.query.colorScheme),
    here: hereOf(ctx, dependencies),
  });
  ctx.vary('Accept-Language');
  sendPage(ctx, html, {
    status,
    frameAncestors: frameAncestors(undefined, embedOrigins),
    formTargets: [instance.baseUrl],
    compress: true,
  });
}
