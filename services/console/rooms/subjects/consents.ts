import type Router from '@koa/router';
import type { Context } from 'koa';
import { ApiFailure } from '../../api/api-failure.ts';
import type { Schemas } from '../../api/api-types.ts';
import { elementPath, questionTypes, readEntryNames } from '../../models/read-model.ts';
import { columnsFor, shortTable } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { withQuery } from '../../pages/filters.ts';
import { fieldsFor, wordChoices } from '../../pages/form.ts';
import { formPage } from '../../pages/form-page.ts';
import { stateMark } from '../../pages/states.ts';
import type { CellView, Column } from '../../pages/table.ts';
import type { RoomTools } from '../../pages/tools.ts';
import { receiptPath } from '../../people/find-transaction.ts';
import { nameOf } from '../../people/subject-path.ts';
import { answerWords } from './questions.ts';

type Answer = Schemas['ConsentRecord'];

/** How an answer or a withdrawal came that is recorded on behalf of a person. */
export const ways = ['PAPER', 'TELEPHONE', 'PERSON', 'LETTER', 'OTHER'] as const;

/** Of each question and object the answer that counts, or else the newest. @param answers newest first. */
function currentAnswers(answers: readonly Answer[]): Answer[] {
  const ofQuestion = Object.groupBy(answers, ({ bodyKey, object = '' }) => `${bodyKey} ${object}`);
  return Object.values(ofQuestion).flatMap(
    (given = []) =>
      given.find(({ status }) => status === 'VALID') ??
      given.find(({ statusExplanation }) => statusExplanation !== 'OBSOLETE') ??
      given[0] ??
      [],
  );
}

/** A consent can be withdrawn as well after it has expired, and after its texts have changed. */
const standing: ReadonlySet<Answer['statusExplanation']> = new Set([
  'LATEST_VALID',
  'EXPIRED',
  'INFO_SERIAL_ARCHIVED',
  'BODY_SERIAL_ARCHIVED',
]);

/** What a person answered, in words; a refusal that ended a consent was a withdrawal. */
export function answerOf(reader: ConsoleReader, { values, withdraws, basis }: Answer): string {
  if (withdraws !== undefined && basis === undefined) return reader.t('withdrawn');
  return answerWords(reader, values, basis !== undefined);
}

/** The element of an answer by its name; in CSV by its key. */
export function elementColumn(
  reader: ConsoleReader,
  elementName: (key: string) => string,
  note: (answer: Answer) => string | undefined,
): Column<Answer> {
  return {
    label: reader.t('subjects.element'),
    cell: (answer) => ({
      text: elementName(answer.bodyKey),
      href: elementPath(answer.bodyKey),
      note: note(answer),
    }),
    csv: ({ bodyKey }) => bodyKey,
  };
}

/**
 * When a person has answered: for answers that staff has recorded, the day that the paper says, and when they
 * were recorded. @param label key of a message.
 */
export function givenColumn(reader: ConsoleReader, label: string): Column<Answer> {
  return {
    label: reader.t(label),
    cell({ creationTimestamp, transaction, givenOn }) {
      const href = `/console/transactions/${transaction}`;
      const time = reader.time(creationTimestamp);
      if (!givenOn) return { time, href };
      const note = reader.t('answers.recorded', { time: time.short });
      return { text: reader.plainDate(givenOn), href, note };
    },
    csv: ({ creationTimestamp }) => new Date(creationTimestamp).toISOString(),
  };
}

/** How an answer or a withdrawal came, and from whom; of an answer that was taken over, from where. */
export function originColumn(reader: ConsoleReader): Column<Answer> {
  const wordOf = ({ origin, way }: Answer) => (way ? reader.word('way', way) : reader.word('origin', origin));
  return columnsFor<Answer>(reader).text('subjects.origin', wordOf, {
    note: ({ author, imported }) =>
      imported ? reader.t('answers.imported', { source: imported.source }) : author,
  });
}

/** An answer that counts; of another, first that it does not, then what it was, and why. */
function currentCell(reader: ConsoleReader, answer: Answer): CellView {
  const { status, statusExplanation, comment } = answer;
  const text = answerOf(reader, answer);
  if (status === 'VALID') return { text, note: comment };
  const why = reader.word('statusExplanation', statusExplanation);
  return { state: stateMark(reader, 'recordStatus', status), note: `${text} · ${why}` };
}

/** The table of what a person agrees to, with what can be done about each answer. */
export function consentTable(
  ctx: Context,
  tools: RoomTools,
  {
    answers,
    nameOf: elementName,
    href,
  }: { answers: readonly Answer[]; nameOf(key: string): string; href: string },
) {
  const reader = tools.reader(ctx);
  const mayWithdraw = tools.may(ctx, 'withdrawConsents');
  const canWithdraw = ({ type, values, statusExplanation }: Answer) =>
    mayWithdraw && type === 'processing' && values[0] === 'accepted' && standing.has(statusExplanation);
  return shortTable(reader, 'subjects.consents', {
    rows: currentAnswers(answers),
    columns: ({ time, link }) => [
      elementColumn(reader, elementName, ({ object }) => object),
      {
        label: reader.t('answers.answer'),
        cell: (answer) => currentCell(reader, answer),
        csv: (answer) => answerOf(reader, answer),
      },
      givenColumn(reader, 'answers.since'),
      // An answer that stopped counting before its time was valid until then, not until its end.
      time('answers.expires', ({ status, expirationTimestamp }) =>
        status === 'VALID' || status === 'EXPIRED' ? expirationTimestamp : undefined,
      ),
      originColumn(reader),
      link('subjects.receipt', 'subjects.show', ({ transaction, imported }) =>
        imported ? undefined : receiptPath(transaction),
      ),
      link(
        'withdraw',
        ({ basis }) => (basis ? 'object' : 'withdraw'),
        (answer) =>
          canWithdraw(answer)
            ? withQuery(`${href}/${answer.basis ? 'object' : 'withdraw'}`, {
                element: answer.bodyKey,
                transaction: answer.transaction,
              })
            : undefined,
      ),
    ],
  });
}

/** Withdrawing a consent, or objecting, for a person who asked by letter, by telephone or in person. */
export function withdrawRoutes(router: Router, tools: RoomTools): void {
  const given = (ctx: Context, name: string): string | undefined => {
    const value = ctx.method === 'POST' ? tools.posted(ctx)[name]?.[0] : [ctx.query[name] ?? []].flat()[0];
    return value || undefined;
  };
  /** The consent of the form: at a transaction of this person, so that its object counts, too. */
  const readAsked = async (ctx: Context) => {
    const [element, txid] = [given(ctx, 'element'), given(ctx, 'transaction')];
    if (!element || !txid) throw new ApiFailure(404, {});
    const { body } = await tools.api(ctx).call('getTransaction', { params: { txid } });
    if (body.subject !== nameOf(ctx, tools).name) throw new ApiFailure(404, {});
    return { element, txid };
  };
  const page = (act: 'withdraw' | 'object') =>
    formPage(router, tools, {
      path: `/:s/${act}`,
      operation: 'withdrawConsents',
      words: act,
      isEnding: true,
      async ask(ctx, reader) {
        const { element, txid } = await readAsked(ctx);
        const { href, name: person } = nameOf(ctx, tools);
        const field = fieldsFor(reader, 'withdraw');
        const options = [['', '–'] as const, ...wordChoices(reader, 'way', ways)];
        const name = (await readEntryNames(ctx, tools, questionTypes))(element);
        return {
          title: reader.t(`${act}Title`, { name, person }),
          cancelUrl: href,
          hidden: { element, transaction: txid },
          fields: [
            field('way', { kind: 'select', options, isRequired: true, pointer: '/collection/way' }),
            field('givenOn', { kind: 'date', pointer: '/collection/givenOn' }),
            field('reference', { pointer: '/collection/reference' }),
            field('comment', { kind: 'textarea', maxLength: 4_000 }),
          ],
        };
      },
      async send(ctx, field) {
        const { element, txid } = await readAsked(ctx);
        const [givenOn, reference, comment] = [field('givenOn'), field('reference'), field('comment')];
        const body = {
          elements: [element],
          collection: { way: field('way'), ...(givenOn && { givenOn }), ...(reference && { reference }) },
          ...(comment && { comment }),
        };
        return tools.api(ctx).call('withdrawConsents', { params: { txid }, body });
      },
      done: (ctx) => tools.open(ctx, nameOf(ctx, tools).href, act === 'object' ? 'objected' : 'withdrawn'),
    });
  page('withdraw');
  page('object');
}
