import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure, fieldFailure } from '../api/api-failure.ts';
import type { Schemas } from '../api/api-types.ts';
import type { ConsoleReader } from '../pages/console-reader.ts';
import { type FieldSpec, formView } from '../pages/form.ts';
import { formPage } from '../pages/form-page.ts';
import type { RoomKit } from '../pages/kit.ts';
import { compareChanges } from '../pages/text-diff.ts';
import type { ModelRoom } from './model-room.ts';
import { type Entry, type FoundModel, type FoundVersion, findVersion, requireVersion } from './read-model.ts';

/** A draft that may become active. */
export interface Activation<Type extends Entry['type']> {
  found: FoundModel<Type>;
  draft: FoundVersion;
  /** Undefined: people have not seen the entry yet. */
  active: FoundVersion | undefined;
  check: Schemas['VersionCheck'];
}

/** What a room tells about an activation, and asks. */
export interface ActivationText {
  effects: string[];
  fields?: FieldSpec[];
  values?: Readonly<Record<string, string>>;
  locals: Readonly<Record<string, unknown>>;
}

interface ActivationParts<Type extends Entry['type']> {
  describe(ctx: Context, activation: Activation<Type>): ActivationText | Promise<ActivationText>;
  placeFaults?(failure: ApiFailure): ApiFailure;
  /** The page after the activation. Default: that of the entry. */
  nextPath?(found: FoundModel<Type>): string;
}

/** Activating a draft: what it changes, what is missing, and what follows for people. */
export function activationRoutes<Type extends Entry['type']>(
  router: Router,
  kit: RoomKit,
  room: ModelRoom<Type> & ActivationParts<Type>,
): void {
  const { words, one, find, compare, describe, fieldsOf, placeFaults, nextPath } = room;
  formPage(router, kit, {
    path: '/:key/activate',
    operation: 'setVersionStatus',
    view: 'activate',
    placeFaults,
    async ask(ctx, reader) {
      const { t } = reader;
      const found = await find(ctx, kit);
      const { entry, href } = found;
      const [draft, active] = await Promise.all([
        requireVersion(ctx, kit, entry, 'DRAFT'),
        findVersion(ctx, kit, entry, 'ACTIVE'),
      ]);
      const params = { id: entry.id, vid: draft.version.id };
      const { body: check } = await kit.api(ctx).call('checkVersion', { params });
      const faults = [...check.faults, ...(check.advice ?? [])];
      const isReady = faults.length === 0;
      const elsewhere = { url: `${href}/edit?check=true`, fields: fieldsOf(reader, entry, draft.version) };
      const { effects, locals, ...asked } = await describe(ctx, { found, draft, active, check });
      return {
        title: t(one === 'form' ? 'activate.title' : 'elements.activateTitle', { name: entry.name }),
        submit: t(`${words}.activate`),
        cancelUrl: href,
        ...asked,
        elsewhere,
        ...(!isReady && { failure: new ApiFailure(422, { errors: faults }) }),
        hidden: {
          draft: draft.version.id,
          etag: draft.etag ?? '',
          ...(asked.fields && { asks: 'type' }),
          ...(asked.fields?.some(({ name }) => name === 'reason') && { asksReason: 'yes' }),
        },
        locals: {
          isReady,
          effects,
          differences: await compareChanges(
            await compare(ctx, kit, entry, { before: active?.version, after: draft.version }),
            reader.language,
          ),
          checklist: checklistView(reader, check.checklist, elsewhere),
          editUrl: elsewhere.url,
          ...locals,
        },
      };
    },
    async send(ctx, field) {
      const found = await find(ctx, kit);
      const params = { id: found.entry.id, vid: field('draft') };
      const api = kit.api(ctx);
      const { advice = [] } = (await api.call('checkVersion', { params })).body;
      if (advice.length > 0) throw new ApiFailure(422, { errors: advice });
      const type = field('type');
      if (field('asks') && !type) throw fieldFailure('type', 'required');
      let ifMatch: string | undefined = field('etag') || undefined;
      const reason = field('reason');
      if (field('asksReason') && type === 'MINOR' && !reason) throw fieldFailure('reason', 'required');
      const body = { type, ...(reason && { reason }) };
      if (type) ifMatch = (await api.call('setVersionType', { params, body, ifMatch })).etag;
      await api.call('setVersionStatus', { params, body: { status: 'ACTIVE' }, ifMatch });
      const next = nextPath?.(found);
      return next && kit.opens(ctx, next) ? next : found.href;
    },
    done: (ctx, next) => kit.open(ctx, next, `${one}Activated`),
  });
}

/** What the law expects an element to say: each point in words, with the places to fill in. */
function checklistView(
  reader: ConsoleReader,
  points: Schemas['VersionCheck']['checklist'],
  elsewhere: { url: string; fields: readonly FieldSpec[] },
) {
  return points.map(({ code, met, pointers }) => {
    const errors = pointers.map((pointer) => ({ pointer, code: 'required', detail: '' }));
    const failure = new ApiFailure(422, { errors });
    const form = formView(reader, { action: '', submit: '', elsewhere, failure });
    return {
      mark: { word: reader.t(met ? 'checklist.met' : 'checklist.lacks'), isMet: met },
      text: reader.t(`checklist.${code}`),
      // A member that means the same in all languages has one field.
      places: met ? [] : distinctBy(form.faults, ({ href }) => href),
    };
  });
}

function distinctBy<T>(all: readonly T[], key: (each: T) => string | undefined): T[] {
  return [...new Map(all.map((each) => [key(each), each])).values()];
}
