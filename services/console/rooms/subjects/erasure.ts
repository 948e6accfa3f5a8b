import type Router from '@koa/router';
import type { Context } from 'koa';
import { fieldFailure } from '../../api/api-failure.ts';
import type { Schemas } from '../../api/api-types.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { type FieldSpec, fieldsFor, wordChoices } from '../../pages/form.ts';
import { actPage, formPage } from '../../pages/form-page.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { nameOf } from '../../people/subject-path.ts';

const longestReason = 1_000;

/** Hold and erasure of a person (docs/erasure.md). */
export function erasureRoutes(router: Router, tools: RoomTools): void {
  const person = (ctx: Context) => ({ name: nameOf(ctx, tools).name });
  actPage(router, tools, {
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
  formPage(router, tools, {
    path: '/:s/erasure-request',
    operation: 'recordErasureRequest',
    words: 'requestErasure',
    ask: (ctx, reader) => ({ ...person(ctx), fields: [reasonField(reader, 'requestErasure')] }),
    async send(ctx, field) {
      const reason = field('reason');
      const call = { params: person(ctx), body: reason ? { reason } : {} };
      return (await tools.api(ctx).call('recordErasureRequest', call)).body;
    },
    // A page that says by when it is decided.
    done: (ctx, { id }) => tools.open(ctx, `${tools.path}/erasures/${id}`, 'erasureAsked'),
  });
  formPage(router, tools, {
    path: '/:s/erase',
    operation: 'eraseSubject',
    words: 'erase',
    isEnding: true,
    async ask(ctx, reader) {
      const { name } = nameOf(ctx, tools);
      const { body: subject } = await tools.api(ctx).call('getSubject', { params: { name } });
      const counts = await countData(ctx, tools, name);
      return {
        name,
        effects: [reader.t('erase.counts', counts), ...(subject.hold ? [reader.t('erase.waits')] : [])],
        fields: [
          fieldsFor(reader, 'erase')('typed', {
            isRequired: true,
            autocomplete: 'off',
            hint: reader.t('erase.exactly', { name }),
          }),
          reasonField(reader, 'erase'),
        ],
      };
    },
    async send(ctx, field) {
      const { name } = nameOf(ctx, tools);
      if (field('typed') !== name) throw fieldFailure('typed', 'not-the-name');
      const reason = field('reason');
      const body = reason ? { reason } : {};
      return (await tools.api(ctx).call('eraseSubject', { params: { name }, body })).body;
    },
    // The page of an erased person is gone soon.
    done: (ctx, { state }) => tools.open(ctx, `${tools.path}/erasures`, startedAs(state)),
  });
}

/** The message after an erasure was started: a hold makes it wait. */
export function startedAs(state: Schemas['Erasure']['state']): 'erasing' | 'erasureHeld' {
  return state === 'HELD' ? 'erasureHeld' : 'erasing';
}

/** How much an erasure deletes. */
export async function countData(ctx: Context, tools: RoomTools, name: string) {
  const api = tools.api(ctx);
  const [transactions, records] = await Promise.all([
    api.call('searchTransactions', { body: { subject: name, size: 1 } }),
    api.call('listSubjectRecords', { params: { name } }),
  ]);
  const answers = Object.values(records.body).flat().length;
  return { transactions: transactions.body.totalCount, answers };
}

function reasonField(
  reader: ConsoleReader,
  act: 'hold' | 'erase' | 'requestErasure',
  isRequired = false,
): FieldSpec {
  return fieldsFor(reader, act)('reason', { isRequired, kind: 'textarea', maxLength: longestReason });
}

/** The hold among the facts of a person. */
export function holdFact(reader: ConsoleReader, { reason, restrict }: Schemas['Hold']) {
  const state = { shape: 'needs-you', word: reader.t('subjects.onHold') } as const;
  const note = [reason, ...(restrict ? [reader.t('subjects.holdRestricts')] : [])].join(' · ');
  return { label: reader.t('subjects.hold'), cell: { state, note } };
}
