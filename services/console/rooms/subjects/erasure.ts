import type Router from '@koa/router';
import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import type { FieldSpec } from '../../pages/form.ts';
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

  const hold: Act = {
    path: 'hold',
    operation: 'holdSubject',
    words: 'hold.',
    fields: ({ t }) => [
      reasonField('hold', t, true),
      {
        name: 'restrict',
        label: t('hold.restrict'),
        kind: 'radios',
        options: [
          ['no', t('hold.restrict.no')],
          ['yes', t('hold.restrict.yes')],
        ],
        isRequired: true,
      },
    ],
    async carryOut(ctx, name) {
      const { reason = [''], restrict = [] } = kit.posted(ctx);
      const body = { reason: reason[0] ?? '', restrict: restrict.includes('yes') };
      await kit.api(ctx).call('holdSubject', { params: { name }, body });
      return 'held';
    },
  };
  const release: Act = {
    path: 'release',
    operation: 'endHold',
    words: 'hold.end',
    fields: () => [],
    async carryOut(ctx, name) {
      await kit.api(ctx).call('endHold', { params: { name } });
      return 'holdEnded';
    },
  };
  const erase: Act = {
    path: 'erase',
    operation: 'eraseSubject',
    words: 'erase.',
    fields: ({ t }) => [
      { name: 'typed', label: t('erase.typed'), isRequired: true, autocomplete: 'off' },
      reasonField('erase', t),
    ],
    async effects(ctx, name, { t }) {
      const api = kit.api(ctx);
      const [transactions, records] = await Promise.all([
        api.call('searchTransactions', { body: { subject: name, size: 1 } }),
        api.call('listSubjectRecords', { params: { name } }),
      ]);
      const answers = Object.values(records.body).flat().length;
      return [t('erase.counts', { transactions: transactions.body.totalCount, answers })];
    },
    async carryOut(ctx, name) {
      const { typed = [''], reason = [''] } = kit.posted(ctx);
      const fault = { pointer: '/typed', code: 'not-the-name', detail: 'is not the name of the person' };
      if (typed[0]?.trim() !== name) throw new ApiFailure(422, { errors: [fault] });
      const body = reason[0]?.trim() ? { reason: reason[0] } : {};
      await kit.api(ctx).call('eraseSubject', { params: { name }, body });
      return 'erasing';
    },
  };
  for (const act of [hold, release, erase]) actRoutes(router, kit, act);
}

/** An act on a person that asks on a page of its own. */
interface Act {
  path: 'hold' | 'release' | 'erase';
  /** The operation of the API that carries it out; the page is only for people who may. */
  operation: 'holdSubject' | 'endHold' | 'eraseSubject';
  /** Prefix of its words: `title`, `effect` and `act`. */
  words: 'hold.' | 'hold.end' | 'erase.';
  fields(reader: ConsoleReader): FieldSpec[];
  /** Sentences with numbers. */
  effects?(ctx: Context, name: string, reader: ConsoleReader): Promise<string[]>;
  /** @returns what is said afterwards. */
  carryOut(ctx: Context, name: string): Promise<string>;
}

function actRoutes(router: Router, kit: RoomKit, act: Act): void {
  const { path, operation, words, fields, effects, carryOut } = act;
  const word = (name: string) =>
    words.endsWith('.') ? `${words}${name}` : `${words}${name[0]?.toUpperCase()}${name.slice(1)}`;
  const ask = async (ctx: Context, failure?: ApiFailure) => {
    if (!kit.may(ctx, operation)) throw new ApiFailure(403, {});
    const reader = kit.reader(ctx);
    const { name, href } = nameOf(ctx, kit);
    const numbers = (await effects?.(ctx, name, reader)) ?? [];
    const confirmation = {
      title: reader.t(word('title'), { name }),
      effects: [reader.t(word('effect')), ...numbers],
      form: kit.form(ctx, {
        action: `${href}/${path}`,
        submit: reader.t(word('act')),
        tone: path === 'release' ? 'primary' : 'ending',
        cancelUrl: href,
        fields: fields(reader),
        values: failure ? kit.posted(ctx) : { restrict: 'no' },
        failure,
      }),
    };
    await kit.confirm(ctx, confirmation, failure?.status);
  };
  router.get(`/:s/${path}`, (ctx) => ask(ctx));
  router.post(`/:s/${path}`, async (ctx) => {
    const { name, href } = nameOf(ctx, kit);
    try {
      const done = await carryOut(ctx, name);
      // The page of an erased person is gone soon.
      kit.open(ctx, path === 'erase' ? `${kit.path}/erasures` : href, done);
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      await ask(ctx, error);
    }
  });
}

function reasonField(act: 'hold' | 'erase', t: ConsoleReader['t'], isRequired = false): FieldSpec {
  const hint = t(`${act}.reasonHint`);
  return {
    name: 'reason',
    label: t(`${act}.reason`),
    hint,
    isRequired,
    kind: 'textarea',
    maxLength: longestReason,
  };
}

/** The hold among the facts of a person. */
export function holdFact(reader: ConsoleReader, { reason, restrict }: components['schemas']['Hold']) {
  const note = restrict ? { note: reader.t('subjects.holdRestricts') } : {};
  return { label: reader.t('subjects.hold'), cell: { text: reason, ...note } };
}
