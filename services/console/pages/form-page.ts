import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../api/api-failure.ts';
import type { OperationId } from '../api/api-types.ts';
import type { ConsoleReader } from './console-reader.ts';
import type { FieldSpec, FormInput, PostedForm } from './form.ts';
import type { RoomKit } from './kit.ts';

/** What the page of a form shows. The form is posted to the path of its page. */
export interface AskedForm
  extends Pick<FormInput, 'submit' | 'tone' | 'cancelUrl' | 'values' | 'hidden' | 'failure'> {
  title: string;
  fields?: readonly FieldSpec[];
  /** Sentences that name the effect of an act, with numbers where these are known. */
  effects?: readonly string[];
  /** Further values that the template prints. */
  locals?: Readonly<Record<string, unknown>>;
}

/** The first value of a posted field, without space around it; empty without the field. */
export type ReadField = (name: string) => string;

/** A form on a page of its own. */
export interface FormPage<Made> {
  /** Below the path of the room. */
  path: string;
  /** The operation that the form calls: the page is only for people who may call it. */
  operation?: OperationId;
  /** Template of the page. Default: the page that asks before an act with consequences. */
  view?: string;
  /** Sent twice, the form creates one thing: the second time leads to `cancelUrl`, which says so. */
  isCreating?: boolean;
  /** Fields whose values are not shown again after a failure. */
  secret?: readonly string[];
  /** Moves the faults of the API to the fields of the form. */
  placeFaults?(failure: ApiFailure): ApiFailure;
  ask(ctx: Context, reader: ConsoleReader): AskedForm | Promise<AskedForm>;
  /** Calls the API. After an ApiFailure the page is shown again, with the faults and what was typed. */
  send(ctx: Context, field: ReadField): Promise<Made>;
  /** Answers the request after the success. */
  done(ctx: Context, made: Made): unknown;
}

/** Adds a page with a form: GET shows it, POST carries it out. */
export function formPage<Made>(router: Router, kit: RoomKit, page: FormPage<Made>): void {
  const { path, operation, view = 'confirm', isCreating, secret = [], placeFaults, ask, send, done } = page;
  const show = async (ctx: Context, failure?: ApiFailure) => {
    if (operation && !kit.may(ctx, operation)) throw new ApiFailure(403, {});
    const { title, effects = [], locals, ...asked } = await ask(ctx, kit.reader(ctx));
    const told = failure ?? asked.failure;
    const form = kit.form(ctx, {
      ...asked,
      action: ctx.path,
      failure: told && (placeFaults?.(told) ?? told),
      ...(failure && { values: withoutSecrets(kit.posted(ctx), secret) }),
      ...(isCreating && { once: kit.once.make() }),
    });
    await kit.page(ctx, view, { title, effects, ...locals, form }, failure?.status);
  };
  router.get(path, (ctx) => show(ctx));
  router.post(
    path,
    orShowAgain(show, async (ctx) => {
      const field = fieldReader(ctx, kit);
      if (!isCreating) return done(ctx, await send(ctx, field));
      const result = await kit.once.run(field('once'), () => send(ctx, field));
      if (result !== 'repeated') return done(ctx, result.made);
      const { cancelUrl = kit.path } = await ask(ctx, kit.reader(ctx));
      kit.open(ctx, cancelUrl, 'repeated');
    }),
  );
}

function withoutSecrets(posted: PostedForm, secret: readonly string[]): PostedForm {
  return Object.fromEntries(Object.entries(posted).filter(([name]) => !secret.includes(name)));
}

/** Reads the fields of the posted form. */
export function fieldReader(ctx: Context, kit: RoomKit): ReadField {
  const posted = kit.posted(ctx);
  return (name) => posted[name]?.[0]?.trim() ?? '';
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
