import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../api/api-failure.ts';
import type { ApiReply, CallInput, OperationId, ResultOf } from '../api/api-types.ts';
import type { ConsoleReader } from './console-reader.ts';
import { type FieldSpec, type FormInput, type PostedForm, type ReadField, readerOf } from './form.ts';
import type { RoomTools } from './tools.ts';

/** What the page of a form shows. The form is posted to the path of its page. */
export interface AskedForm
  extends Partial<Pick<FormInput, 'submit' | 'cancelUrl' | 'elsewhere' | 'opensTab'>> {
  /** Default, as of the button: the message of the act. */
  title?: string;
  /** Of the thing that the act is about, for the title of the act. */
  name?: string;
  fields?: readonly FieldSpec[];
  values?: FormInput['values'];
  hidden?: FormInput['hidden'];
  /** Shown before anything was sent. */
  failure?: ApiFailure;
  /** Sentences that name the effect of an act, with numbers where these are known. */
  effects?: readonly string[];
  /** Pages that the last of these sentences is about. */
  links?: readonly { text: string; href: string }[];
  /** Whether the act is impossible: the sentences say why, and there is no form. */
  isBarred?: boolean;
  /** Further values that the template prints. */
  locals?: Readonly<Record<string, unknown>>;
}

/** A form on a page of its own. */
export interface FormPage<Made> {
  /** Below the path of the room. */
  path: string;
  /** The operation that the form calls: the page is only for people who may call it. */
  operation?: OperationId;
  /** Template of the page. Default: the page that asks before an act with consequences. */
  view?: string;
  /**
   * Prefix of the messages of an act: `<words>Title` with `name`, `<words>Effect`, `<words>` on the button.
   */
  words?: string;
  /** Whether the act ends something: its button is outlined. */
  isEnding?: boolean;
  /** Sent twice, the form creates one thing: the second time leads to `cancelUrl`, which says so. */
  isCreating?: boolean;
  /** Fields whose values are not shown again after a failure. */
  secret?: readonly string[];
  /** Moves the faults of the API to the fields of the form. */
  placeFaults?(failure: ApiFailure): ApiFailure;
  /** @returns what the page shows; `cancelUrl` is the path above by default. */
  ask?(ctx: Context, reader: ConsoleReader): AskedForm | Promise<AskedForm>;
  /** Calls the API. After an ApiFailure the page is shown again, with the faults and what was typed. */
  send(ctx: Context, field: ReadField): Promise<Made>;
  /** Answers the request after the success; a text opens the path above, with the message `done.<text>`. */
  done: string | ((ctx: Context, made: Made) => unknown);
}

/** Adds a page with a form: GET shows it, POST carries it out. */
export function formPage<Made>(router: Router, tools: RoomTools, page: FormPage<Made>): void {
  const { path, operation, view = 'confirm', isCreating, secret = [], placeFaults, send, done } = page;
  const show = async (ctx: Context, failure?: ApiFailure) => {
    if (operation) tools.require(ctx, operation);
    const { title, effects, links, isBarred, locals, ...asked } = await askedBy(page, ctx, tools.reader(ctx));
    const told = failure ?? asked.failure;
    const form = tools.form(ctx, {
      ...asked,
      action: ctx.path,
      failure: told && (placeFaults?.(told) ?? told),
      ...(failure && { values: withoutSecrets(tools.posted(ctx), secret) }),
      ...(isCreating && { once: tools.once.make() }),
    });
    await tools.page(
      ctx,
      view,
      { title, effects, linked: links, isBarred, ...locals, form },
      failure?.status,
    );
  };
  const answer = (ctx: Context, made: Made) =>
    typeof done === 'string' ? tools.open(ctx, above(ctx.path), done) : done(ctx, made);
  router.get(path, (ctx) => show(ctx));
  router.post(
    path,
    orShowAgain(show, async (ctx) => {
      const field = fieldReader(ctx, tools);
      if (!isCreating) return answer(ctx, await send(ctx, field));
      const result = await tools.once.run(field('once'), () => send(ctx, field));
      if (result !== 'repeated') return answer(ctx, result.made);
      const { cancelUrl } = await askedBy(page, ctx, tools.reader(ctx));
      tools.open(ctx, cancelUrl, 'repeated');
    }),
  );
}

/** What a page shows, with the messages of its act. */
async function askedBy<Made>(
  { words = '', isEnding, ask }: FormPage<Made>,
  ctx: Context,
  reader: ConsoleReader,
) {
  const { name = '', effects = [], ...asked } = (await ask?.(ctx, reader)) ?? {};
  const effect = `${words}Effect`;
  return {
    ...asked,
    title: asked.title ?? reader.t(`${words}Title`, { name }),
    submit: asked.submit ?? reader.t(words),
    tone: isEnding ? ('ending' as const) : ('primary' as const),
    cancelUrl: asked.cancelUrl ?? above(ctx.path),
    effects: reader.has(effect) && !asked.isBarred ? [reader.t(effect), ...effects] : effects,
  };
}

/** A path without its last part: the page of the thing that an act is about, or its list. */
function above(path: string): string {
  return path.slice(0, path.lastIndexOf('/'));
}

/** An act that is one call of the API, with the parameters of its path. */
interface ActPage<Id extends OperationId>
  extends Omit<FormPage<ApiReply<ResultOf<Id>>>, 'operation' | 'send'> {
  operation: Id;
  /** Parameters of the operation. Default: those of the page's path, which has the names of the contract. */
  params?(ctx: Context): Readonly<Record<string, string>>;
  body?(field: ReadField, posted: PostedForm): CallInput<Id>['body'];
}

/** Adds a page that calls one operation. */
export function actPage<Id extends OperationId>(
  router: Router,
  tools: RoomTools,
  { params = (ctx) => ctx.params, body, ...page }: ActPage<Id>,
): void {
  const { operation, secret } = page;
  formPage(router, tools, {
    ...page,
    send: (ctx, field) =>
      tools.api(ctx).call(operation, { params: params(ctx), body: body?.(field, tools.posted(ctx)), secret }),
  });
}

/** A button on the page above, which has no page of its own. */
export function buttonAct<Id extends OperationId>(
  router: Router,
  tools: RoomTools,
  { path, operation, body, done }: Pick<ActPage<Id>, 'path' | 'operation' | 'body'> & { done: string },
): void {
  router.post(path, async (ctx) => {
    const given = body?.(fieldReader(ctx, tools), tools.posted(ctx));
    await tools.api(ctx).call(operation, { params: ctx.params, body: given });
    tools.open(ctx, above(ctx.path), done);
  });
  leadAbove(router, tools, path);
}

/** A form without a page of its own that was kept during a sign-in leads to the page above. */
export function leadAbove(router: Router, tools: RoomTools, path: string): void {
  router.get(path, (ctx) => tools.open(ctx, above(ctx.path)));
}

function withoutSecrets(posted: PostedForm, secret: readonly string[]): PostedForm {
  return Object.fromEntries(Object.entries(posted).filter(([name]) => !secret.includes(name)));
}

/** Reads the fields of the posted form. */
export function fieldReader(ctx: Context, tools: RoomTools): ReadField {
  return readerOf(tools.posted(ctx));
}

/** A handler that shows the page of a form again, with the failure, if the API refuses what was sent. */
export function orShowAgain(
  show: (ctx: Context, failure: ApiFailure) => Promise<void>,
  send: (ctx: Context) => Promise<unknown>,
): (ctx: Context) => Promise<void> {
  return async (ctx) => {
    try {
      await send(ctx);
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      await show(ctx, error);
    }
  };
}
