import type Router from '@koa/router';
import type { Context } from 'koa';
import { fieldFailure } from '../../api/api-failure.ts';
import type { Schemas } from '../../api/api-types.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { type FieldSpec, fieldsFor, wordChoices } from '../../pages/form.ts';
import { actPage, formPage } from '../../pages/form-page.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { nameOf } from './subject-path.ts';

const longestReason = 1_000;

/** Hold and erasure of a person (docs/erasure.md). */
export function erasureRoutes(router: Router, kit: RoomKit): void {
  const person = (ctx: Context) => ({ name: nameOf(ctx, kit).name });
  actPage(router, kit, {
    path: '/:s/hold',
    params: person,
    operation: 'holdSubject',
    words: 'hold',
    isEnding: true,
    ask: (ctx, reader) => ({
      ...person(ctx),
      fields: [
        reasonField(reader, 'hold', true),
        fieldsFor(reader, 'hold')('restrict', {
          kind: 'radios',
          options: wordChoices(reader, 'hold.restrict', ['no', 'yes']),
          isRequired: true,
        }),
      ],
      values: { restrict: 'no' },
    }),
    body: (field) => ({ reason: field('reason'), restrict: field('restrict') === 'yes' }),
    done: 'held',
  });
  actPage(router, kit, {
    path: '/:s/release',
    params: person,
    ask: person,
    operation: 'endHold',
    words: 'hold.end',
    done: 'holdEnded',
  });
  formPage(router, kit, {
    path: '/:s/erase',
    operation: 'eraseSubject',
    words: 'erase',
    isEnding: true,
    async ask(ctx, reader) {
      const { name } = nameOf(ctx, kit);
      const api = kit.api(ctx);
      const [transactions, records] = await Promise.all([
        api.call('searchTransactions', { body: { subject: name, size: 1 } }),
        api.call('listSubjectRecords', { params: { name } }),
      ]);
      const answers = Object.values(records.body).flat().length;
      return {
        name,
        effects: [reader.t('erase.counts', { transactions: transactions.body.totalCount, answers })],
        fields: [
          fieldsFor(reader, 'erase')('typed', { isRequired: true, autocomplete: 'off' }),
          reasonField(reader, 'erase'),
        ],
      };
    },
    async send(ctx, field) {
      const { name } = nameOf(ctx, kit);
      if (field('typed') !== name) throw fieldFailure('typed', 'not-the-name');
      const reason = field('reason');
      await kit.api(ctx).call('eraseSubject', { params: { name }, body: reason ? { reason } : {} });
    },
    // The page of an erased person is gone soon.
    done: (ctx) => kit.open(ctx, `${kit.path}/erasures`, 'erasing'),
  });
}

function reasonField(reader: ConsoleReader, act: 'hold' | 'erase', isRequired = false): FieldSpec {
  return fieldsFor(reader, act)('reason', { isRequired, kind: 'textarea', maxLength: longestReason });
}

/** The hold among the facts of a person. */
export function holdFact(reader: ConsoleReader, { reason, restrict }: Schemas['Hold']) {
  const note = restrict ? { note: reader.t('subjects.holdRestricts') } : {};
  return { label: reader.t('subjects.hold'), cell: { text: reason, ...note } };
}
