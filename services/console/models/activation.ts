import { isDeepStrictEqual } from 'node:util';
import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure, fieldFailure } from '../api/api-failure.ts';
import type { Schemas } from '../api/api-types.ts';
import { actLinks } from '../pages/acts.ts';
import type { ConsoleReader } from '../pages/console-reader.ts';
import { type FieldSpec, formView } from '../pages/form.ts';
import { formPage } from '../pages/form-page.ts';
import { compareChanges } from '../pages/text-diff.ts';
import type { RoomTools } from '../pages/tools.ts';
import type { ModelRoom } from './model-room.ts';
import {
  type Entry,
  elementPath,
  type FoundModel,
  type FoundVersion,
  findVersion,
  requireVersion,
  type Version,
} from './read-model.ts';

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
  /** Entries that were never active and become active with it, such as the elements of a form. */
  partsOf?(ctx: Context, draft: FoundVersion): Promise<readonly Entry[]>;
  /** The page after the activation. Default: that of the entry. */
  nextPath?(found: FoundModel<Type>): string;
}

/** Activating a draft: what it changes, what is missing, and what follows for people. */
export function activationRoutes<Type extends Entry['type']>(
  router: Router,
  tools: RoomTools,
  room: ModelRoom<Type> & ActivationParts<Type>,
): void {
  const { words, one, find, compare, describe, fieldsOf, placeFaults, nextPath } = room;
  const partsOf = async (ctx: Context, draft: FoundVersion) =>
    Promise.all(((await room.partsOf?.(ctx, draft)) ?? []).map((part) => checkPart(ctx, tools, part)));
  formPage(router, tools, {
    path: '/:key/activate',
    operation: 'setVersionStatus',
    view: 'activate',
    placeFaults,
    async ask(ctx, reader) {
      const { t } = reader;
      const found = await find(ctx, tools);
      const { entry, href } = found;
      const [draft, active] = await Promise.all([
        requireVersion(ctx, tools, entry, 'DRAFT'),
        findVersion(ctx, tools, entry, 'ACTIVE'),
      ]);
      const params = { id: entry.id, vid: draft.version.id };
      const { body: check } = await tools.api(ctx).call('checkVersion', { params });
      const faults = [...check.faults, ...(check.advice ?? [])];
      const parts = await partsOf(ctx, draft);
      const isReady = faults.length === 0 && parts.every(({ check: { faults: own } }) => own.length === 0);
      const isUnchanged = parts.length === 0 && saysTheSame(active?.version, draft.version);
      const elsewhere = { url: `${href}/edit?check=true`, fields: fieldsOf(reader, entry, draft.version) };
      const { effects, locals, ...asked } = await describe(ctx, { found, draft, active, check });
      return {
        title: t(one === 'form' ? 'activate.title' : 'elements.activateTitle', { name: entry.name }),
        submit: t(`${words}.activate`),
        cancelUrl: href,
        ...asked,
        elsewhere,
        ...(faults.length > 0 && { failure: new ApiFailure(422, { errors: faults }) }),
        hidden: {
          draft: draft.version.id,
          etag: draft.etag ?? '',
          ...(asked.fields && { asks: 'type' }),
          ...(asked.fields?.some(({ name }) => name === 'reason') && { asksReason: 'yes' }),
        },
        locals: {
          isReady,
          unchanged: isUnchanged && {
            text: t('activate.unchanged', { version: active?.version.serial ?? '' }),
            acts: actLinks(ctx, tools, [
              { href: `${href}/edit`, word: `${words}.goOn`, operation: 'createVersion' },
              { href: `${href}/discard`, word: `${words}.discard`, operation: 'deleteVersion' },
            ]),
          },
          effects,
          differences: await compareChanges(
            await compare(ctx, tools, entry, { before: active?.version, after: draft.version }),
            reader.language,
          ),
          checklist: checklistView(reader, check.checklist, { ...elsewhere, placeFaults }),
          editUrl: elsewhere.url,
          parts: parts.map((part) => partView(reader, part)),
          ...locals,
        },
      };
    },
    async send(ctx, field) {
      const found = await find(ctx, tools);
      const params = { id: found.entry.id, vid: field('draft') };
      const api = tools.api(ctx);
      const { advice = [] } = (await api.call('checkVersion', { params })).body;
      if (advice.length > 0) throw new ApiFailure(422, { errors: advice });
      const draft = await requireVersion(ctx, tools, found.entry, 'DRAFT');
      const parts = draft.version.id === params.vid ? await partsOf(ctx, draft) : [];
      const active = await findVersion(ctx, tools, found.entry, 'ACTIVE');
      // The page says why, in place of its form.
      if (parts.length === 0 && saysTheSame(active?.version, draft.version)) throw new ApiFailure(409, {});
      const unready = parts.find(({ check }) => check.faults.length > 0);
      if (unready) throw new ApiFailure(422, { errors: unready.check.faults });
      for (const part of parts)
        await api.call('setVersionStatus', { params: part.params, body: { status: 'ACTIVE' } });
      const type = field('type');
      if (field('asks') && !type) throw fieldFailure('type', 'required');
      let ifMatch: string | undefined = field('etag') || undefined;
      const reason = field('reason');
      if (field('asksReason') && type === 'MINOR' && !reason) throw fieldFailure('reason', 'required');
      const body = { type, ...(reason && { reason }) };
      if (type) ifMatch = (await api.call('setVersionType', { params, body, ifMatch })).etag;
      await api.call('setVersionStatus', { params, body: { status: 'ACTIVE' }, ifMatch });
      const next = nextPath?.(found);
      const isMajor = type === 'MAJOR' && active !== undefined;
      const done = `${one}Activated${isMajor && one === 'element' ? 'Major' : ''}`;
      return { path: next && tools.opens(ctx, next) ? next : found.href, done };
    },
    done: (ctx, { path, done }) => tools.open(ctx, path, done),
  });
}

/** Whether a draft changes nothing: its activation would at most ask people again, for no reason they see. */
function saysTheSame(active: Version | undefined, draft: Version): boolean {
  return (
    active !== undefined &&
    active.defaultLanguage === draft.defaultLanguage &&
    isDeepStrictEqual(active.data, draft.data)
  );
}

/** Reads what an activation of an entry that was never active would be refused for. */
async function checkPart(ctx: Context, tools: RoomTools, entry: Entry) {
  const vid = entry.versions.find(({ status }) => status === 'DRAFT')?.id ?? '';
  const params = { id: entry.id, vid };
  const { faults, advice = [], checklist } = (await tools.api(ctx).call('checkVersion', { params })).body;
  return { entry, params, check: { faults: [...faults, ...advice], checklist } };
}

/** An entry that becomes active, too: whether it can, and what the law expects it to say besides. */
function partView(reader: ConsoleReader, { entry, check }: Awaited<ReturnType<typeof checkPart>>) {
  const isReady = check.faults.length === 0;
  return {
    name: entry.name,
    type: reader.word('elementType', entry.type),
    href: `${elementPath(entry.key)}/edit${isReady ? '' : '?check=true'}`,
    mark: {
      word: reader.t(isReady ? 'activate.ready' : 'activate.unready', { count: check.faults.length }),
      isMet: isReady,
    },
    lacking: check.checklist.filter(({ met }) => !met).map(({ code }) => reader.t(`checklist.${code}`)),
  };
}

/** The notice check of an entry: each point in words, with the places to fill in. */
function checklistView(
  reader: ConsoleReader,
  points: Schemas['VersionCheck']['checklist'],
  {
    placeFaults = (failure) => failure,
    ...elsewhere
  }: {
    url: string;
    fields: readonly FieldSpec[];
    placeFaults: ((failure: ApiFailure) => ApiFailure) | undefined;
  },
) {
  return points.map(({ code, met, pointers }) => {
    const errors = pointers.map((pointer) => ({ pointer, code: 'required', detail: '' }));
    const failure = placeFaults(new ApiFailure(422, { errors }));
    const form = formView(reader, { action: '', submit: '', elsewhere, failure });
    return {
      mark: { word: reader.t(met ? 'checklist.met' : 'checklist.lacks'), isMet: met },
      text: reader.t(`checklist.${code}`),
      // A member that means the same in all languages has one field.
      places: met
        ? []
        : distinctBy(
            form.faults.filter(({ label }) => label),
            ({ href }) => href,
          ),
    };
  });
}

function distinctBy<T>(all: readonly T[], key: (each: T) => string | undefined): T[] {
  return [...new Map(all.map((each) => [key(each), each])).values()];
}
