import type Router from '@koa/router';
import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { type FieldSpec, fieldsFor } from '../../pages/form.ts';
import { type FormPage, formPage } from '../../pages/form-page.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { nameOf } from './subject-path.ts';

const longestReason = 1_000;

/** Hold, erasure and export of a person (docs/erasure.md). */
export function erasureRoutes(router: Router, kit: RoomKit): void {
  router.get('/:s/export', async (ctx) => {
    const { name } = nameOf(ctx, kit);
    const { body } = await kit
      .api(ctx)
      .call('exportSubject', { params: { name }, query: { limit: '200' } as object });
    ctx.set('Content-Disposition', 'attachment; filename="export.json"');
    ctx.body = body;
  });

  router.get('/:s/document/export', async (ctx) => {
    const { name } = nameOf(ctx, kit);
    const query = { format: 'html', language: kit.reader(ctx).language };
    const file = await kit.api(ctx).file('exportSubject', { params: { name }, query: query as object });
    ctx.set('Content-Disposition', 'attachment; filename="export.html"');
    ctx.type = 'text/html; charset=utf-8';
    ctx.body = file;
  });

  actPage(router, kit, {
    path: 'hold',
    operation: 'holdSubject',
    words: { title: 'hold.title', effect: 'hold.effect', act: 'hold.act' },
    fields: (reader) => [
      reasonField(reader, 'hold', true),
      fieldsFor(reader, 'hold')('restrict', {
        kind: 'radios',
        options: ['no', 'yes'].map((each) => [each, reader.t(`hold.restrict.${each}`)] as const),
        isRequired: true,
      }),
    ],
    send(ctx, field) {
      const body = { reason: field('reason'), restrict: field('restrict') === 'yes' };
      return kit.api(ctx).call('holdSubject', { params: { name: nameOf(ctx, kit).name }, body });
    },
    done: (ctx) => kit.open(ctx, nameOf(ctx, kit).href, 'held'),
  });
  actPage(router, kit, {
    path: 'release',
    operation: 'endHold',
    words: { title: 'hold.endTitle', effect: 'hold.endEffect', act: 'hold.endAct' },
    fields: () => [],
    send: (ctx) => kit.api(ctx).call('endHold', { params: { name: nameOf(ctx, kit).name } }),
    done: (ctx) => kit.open(ctx, nameOf(ctx, kit).href, 'holdEnded'),
  });
  actPage(router, kit, {
    path: 'erase',
    operation: 'eraseSubject',
    words: { title: 'erase.title', effect: 'erase.effect', act: 'erase.act' },
    fields: (reader) => [
      fieldsFor(reader, 'erase')('typed', { isRequired: true, autocomplete: 'off' }),
      reasonField(reader, 'erase'),
    ],
    async numbers(ctx, name, { t }) {
      const api = kit.api(ctx);
      const [transactions, records] = await Promise.all([
        api.call('searchTransactions', { body: { subject: name, size: 1 } }),
        api.call('listSubjectRecords', { params: { name } }),
      ]);
      const answers = Object.values(records.body).flat().length;
      return [t('erase.counts', { transactions: transactions.body.totalCount, answers })];
    },
    async send(ctx, field) {
      const { name } = nameOf(ctx, kit);
      const fault = { pointer: '/typed', code: 'not-the-name', detail: 'is not the name of the person' };
      if (field('typed') !== name) throw new ApiFailure(422, { errors: [fault] });
      const reason = field('reason');
      await kit.api(ctx).call('eraseSubject', { params: { name }, body: reason ? { reason } : {} });
    },
    // The page of an erased person is gone soon.
    done: (ctx) => kit.open(ctx, `${kit.path}/erasures`, 'erasing'),
  });
}

/** An act on a person that asks on a page of its own. */
interface Act extends Pick<FormPage<unknown>, 'operation' | 'send' | 'done'> {
  path: 'hold' | 'release' | 'erase';
  words: { title: string; effect: string; act: string };
  fields(reader: ConsoleReader): FieldSpec[];
  /** Sentences with numbers. */
  numbers?(ctx: Context, name: string, reader: ConsoleReader): Promise<string[]>;
}

function actPage(router: Router, kit: RoomKit, { path, words, fields, numbers, ...act }: Act): void {
  formPage(router, kit, {
    path: `/:s/${path}`,
    async ask(ctx, reader) {
      const { name, href } = nameOf(ctx, kit);
      return {
        title: reader.t(words.title, { name }),
        effects: [reader.t(words.effect), ...((await numbers?.(ctx, name, reader)) ?? [])],
        submit: reader.t(words.act),
        tone: path === 'release' ? 'primary' : 'ending',
        cancelUrl: href,
        fields: fields(reader),
        values: { restrict: 'no' },
      };
    },
    ...act,
  });
}

function reasonField(reader: ConsoleReader, act: 'hold' | 'erase', isRequired = false): FieldSpec {
  return fieldsFor(reader, act)('reason', { isRequired, kind: 'textarea', maxLength: longestReason });
}

/** The hold among the facts of a person. */
export function holdFact(reader: ConsoleReader, { reason, restrict }: components['schemas']['Hold']) {
  const note = restrict ? { note: reader.t('subjects.holdRestricts') } : {};
  return { label: reader.t('subjects.hold'), cell: { text: reason, ...note } };
}
