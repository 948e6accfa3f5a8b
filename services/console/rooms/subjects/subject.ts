import type Router from '@koa/router';
import type { RouterMiddleware } from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import type { Schemas } from '../../api/api-types.ts';
import { questionTypes, readEntryNames } from '../../models/read-model.ts';
import { actLinks } from '../../pages/acts.ts';
import { factsView, shortTable } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { withQuery } from '../../pages/filters.ts';
import { formPage } from '../../pages/form-page.ts';
import { readPanels } from '../../pages/panel.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { receiptPath } from '../../people/find-transaction.ts';
import { formColumn, kindColumn } from '../../people/form-column.ts';
import { contactFields, nameOf, readFormLanguages } from '../../people/subject-path.ts';
import { answerOf, consentTable, elementColumn, givenColumn, originColumn } from './consents.ts';
import { decisionsPath } from './decisions.ts';
import { holdFact } from './erasure.ts';
import { openErasure } from './erasures.ts';
import { readStillOpen } from './still-open.ts';

type Answer = Schemas['ConsentRecord'];
type Erasure = Schemas['Erasure'];
type Listed = Schemas['ListedTransaction'];

const transactionsPath = '/console/transactions';
/** Transactions of the person on the page; all of them are in the list of transactions. */
const maxTransactions = 20;

/** One person: facts, answers, transactions, and what can be done. */
export function subjectRoutes(router: Router, tools: RoomTools): void {
  router.get('/:s', async (ctx) => {
    const { name, href } = nameOf(ctx, tools);
    const reader = tools.reader(ctx);
    const api = tools.api(ctx);
    const { body: subject } = await api.call('getSubject', { params: { name } });
    const read = await readPanels(reader, {
      names: readEntryNames(ctx, tools, questionTypes),
      records: api
        .call('listSubjectRecords', { params: { name } })
        .then(({ body }) => Object.values(body).flat()),
      transactions: api
        .call('searchTransactions', { body: { subject: name, size: maxTransactions } })
        .then(({ body }) => body.values),
      forms: readEntryNames(ctx, tools, 'layout'),
      erasures: api.call('listErasures', { query: { subject: name } }).then(({ body }) => body),
    });
    const { records, transactions, names, forms } = read;
    const elementName = names.value ?? ((key: string) => key);
    const answers = ((records.value ?? []) as Answer[]).toSorted(
      (one, other) => other.creationTimestamp - one.creationTimestamp,
    );
    const listed = (transactions.value ?? []) as Listed[];
    const table = transactions.value && transactionTable(reader, listed, forms.value ?? ((key) => key));
    const erasure = openErasure(reader, tools.path, (read.erasures.value ?? []) as Erasure[]);
    const isHeld = subject.hold !== undefined;
    const log = { target: `subject/${subject.id}`, s: String(ctx.params.s) };
    await tools.page(ctx, 'subject', {
      title: name,
      facts: [
        ...factsView(reader, {
          'subjects.email': { text: subject.emailAddress ?? '–' },
          'subjects.phone': subject.phoneNumber && { text: subject.phoneNumber },
          'subjects.language': {
            text: subject.defaultLanguage ? reader.languageName(subject.defaultLanguage) : '–',
          },
          'subjects.since': { time: reader.time(subject.creationTimestamp) },
        }),
        ...(subject.hold ? [holdFact(reader, subject.hold)] : []),
        ...(erasure ? [erasure] : []),
      ],
      consents: { ...records, value: consentTable(ctx, tools, { answers, nameOf: elementName, href }) },
      history: { ...records, value: historyTable(reader, answers, elementName) },
      transactions: { ...transactions, value: table },
      stillOpen: await readStillOpen(ctx, tools, { transactions: listed, answers }),
      allUrl: `${transactionsPath}?s=${String(ctx.params.s)}`,
      acts: actLinks(ctx, tools, [
        { href: `${href}/record`, word: 'record.act', operation: 'createSingleStepTransaction' },
        { href: `${href}/link`, word: 'link.act', operation: 'createTransaction' },
      ]),
      eraseNote:
        tools.may(ctx, 'updateSubject') && !tools.may(ctx, 'eraseSubject') && reader.t('erase.byOthers'),
      more: actLinks(ctx, tools, [
        {
          href: withQuery('/console/campaigns/new', { s: String(ctx.params.s) }),
          word: 'subjects.again',
          operation: 'createCampaign',
        },
        { href: decisionsPath(tools, name), word: 'decisions.open', operation: 'decideQuestions' },
        { href: `${href}/edit`, word: 'subjects.edit', operation: 'updateSubject' },
        { href: `${href}/document/export`, word: 'subjects.exportDocument', operation: 'exportSubject' },
        { href: `${href}/export`, word: 'subjects.export', operation: 'exportSubject' },
        { href: withQuery('/console/audit', log), word: 'subjects.log', operation: 'listConsentsAudit' },
        {
          href: withQuery('/console/audit', { ...log, kind: 'reads' }),
          word: 'subjects.readers',
          operation: 'listConsentsAudit',
        },
        { href: `${href}/release`, word: 'hold.end', operation: 'endHold', when: isHeld },
        { href: `${href}/hold`, word: 'hold', operation: 'holdSubject', when: !isHeld },
        {
          href: `${href}/erasure-request`,
          word: 'requestErasure',
          operation: 'recordErasureRequest',
          when: !tools.may(ctx, 'eraseSubject') && !erasure,
        },
        { href: `${href}/erase`, word: 'erase', operation: 'eraseSubject', isEnding: true },
      ]),
    });
  });

  formPage(router, tools, {
    path: '/:s/edit',
    operation: 'updateSubject',
    view: 'form',
    async ask(ctx, reader) {
      const { name } = nameOf(ctx, tools);
      const { body: subject } = await tools.api(ctx).call('getSubject', { params: { name } });
      const { emailAddress, defaultLanguage } = subject;
      return {
        title: reader.t('subjects.editOf', { name }),
        submit: reader.t('subjects.save'),
        fields: contactFields(reader, await readFormLanguages(ctx, tools), defaultLanguage),
        values: { emailAddress, defaultLanguage },
      };
    },
    async send(ctx, field) {
      const { name } = nameOf(ctx, tools);
      const body = { emailAddress: field('emailAddress'), defaultLanguage: field('defaultLanguage') };
      // A change names the subject by its id (openapi.yaml).
      const { id } = (await tools.api(ctx).call('getSubject', { params: { name } })).body;
      await tools.api(ctx).call('updateSubject', { params: { name: id }, body });
    },
    done: 'subjectChanged',
  });
}

/** Says on the pages of an erased person when the erasure was, as long as the name can be recognised. */
export function sayErased(tools: RoomTools): RouterMiddleware {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      const isGone = error instanceof ApiFailure && error.status === 404 && ctx.params.s !== undefined;
      const erasure = isGone ? await findErasure(ctx, tools) : undefined;
      if (!erasure) throw error;
      const { t, date } = tools.reader(ctx);
      const locals = {
        title: t('erased.title'),
        text: t('erased.text', { date: date(erasure.done ?? erasure.created) }),
        erasureUrl: `${tools.path}/erasures/${erasure.id}`,
      };
      await tools.page(ctx, 'erased', locals, 404);
    }
  };
}

async function findErasure(ctx: Context, tools: RoomTools): Promise<Schemas['Erasure'] | undefined> {
  const subject = tools.names.open(String(ctx.params.s));
  if (!subject || !tools.may(ctx, 'listErasures')) return undefined;
  const { body } = await tools.api(ctx).call('listErasures', { query: { subject } });
  return body.find(({ state, peer }) => state === 'DONE' && peer === undefined);
}

function historyTable(reader: ConsoleReader, rows: readonly Answer[], nameOf: (key: string) => string) {
  return shortTable(reader, 'subjects.history', {
    file: 'history',
    rows,
    columns: ({ text, state }) => [
      elementColumn(reader, nameOf, ({ bodySerial, object }) =>
        object ? `${bodySerial} · ${object}` : bodySerial,
      ),
      text('answers.answer', (answer) => answerOf(reader, answer), {
        note: ({ comment }) => comment,
      }),
      state('subjects.status', 'recordStatus', ({ status }) => status, {
        note: ({ status, statusExplanation }) =>
          status === 'VALID' ? undefined : reader.word('statusExplanation', statusExplanation),
      }),
      givenColumn(reader, 'answers.given'),
      originColumn(reader),
    ],
  });
}

function transactionTable(reader: ConsoleReader, rows: readonly Listed[], formName: (key: string) => string) {
  return shortTable(reader, 'subjects.transactions', {
    rows,
    columns: ({ time, code, state, link }) => [
      time('subjects.created', ({ created }) => created),
      code('subjects.transaction', ({ id }) => id, { href: ({ id }) => `${transactionsPath}/${id}` }),
      formColumn(reader, formName),
      kindColumn(reader),
      state('subjects.state', 'transactionState', (each) => each.state),
      link('subjects.receipt', 'subjects.show', ({ id, receipt }) => (receipt ? receiptPath(id) : undefined)),
    ],
  });
}
