import type Router from '@koa/router';
import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { ApiFailure } from '../../api/api-failure.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import type { RoomKit } from '../../pages/kit.ts';
import { readPanels } from '../../pages/panel.ts';
import { stateMark } from '../../pages/states.ts';
import { type Column, tableView } from '../../pages/table.ts';
import { decisionsPath } from './decisions.ts';
import { holdFact } from './erasure.ts';
import { answerWord, listAskable } from './questions.ts';
import { contactFields, nameOf } from './subject-path.ts';

type Answer = components['schemas']['Record'];

const transactionsPath = '/console/transactions';
/** Transactions of the person on the page; all of them are in the list of transactions. */
const maxTransactions = 20;

/** One person: facts, answers, transactions, and what can be done. */
export function subjectRoutes(router: Router, kit: RoomKit): void {
  router.get('/:s', async (ctx) => {
    const { name, href } = nameOf(ctx, kit);
    const reader = kit.reader(ctx);
    const api = kit.api(ctx);
    const { body: subject } = await api.call('getSubject', { params: { name } });
    const read = await readPanels(reader, {
      records: api
        .call('listSubjectRecords', { params: { name } })
        .then(({ body }) => Object.values(body).flat()),
      transactions: api
        .call('searchTransactions', { body: { subject: name, size: maxTransactions } })
        .then(({ body }) => transactionTable(reader, body.values)),
    });
    const { records, transactions } = read;
    const answers = ((records.value ?? []) as Answer[]).toSorted(
      (one, other) => other.creationTimestamp - one.creationTimestamp,
    );
    const { t } = reader;
    await kit.page(ctx, 'subject', {
      title: name,
      facts: [
        { label: t('subjects.email'), cell: { text: subject.emailAddress ?? '–' } },
        {
          label: t('subjects.language'),
          cell: { text: subject.defaultLanguage ? reader.languageName(subject.defaultLanguage) : '–' },
        },
        { label: t('subjects.since'), cell: { time: reader.time(subject.creationTimestamp) } },
        ...(subject.hold ? [holdFact(reader, subject.hold)] : []),
      ],
      valid: {
        ...records,
        value: answerTable(
          reader,
          'subjects.valid',
          answers.filter(({ status }) => status === 'VALID'),
        ),
      },
      history: { ...records, value: answerTable(reader, 'subjects.history', answers) },
      transactions,
      allUrl: `${transactionsPath}?s=${String(ctx.params.s)}`,
      acts: [
        { may: kit.may(ctx, 'decideQuestions'), href: decisionsPath(kit, name), word: t('decisions.title') },
        { may: kit.may(ctx, 'createSingleStepTransaction'), href: `${href}/record`, word: t('record.act') },
        { may: kit.may(ctx, 'createTransaction'), href: `${href}/link`, word: t('link.act') },
        { may: kit.may(ctx, 'updateSubject'), href: `${href}/edit`, word: t('subjects.edit') },
        {
          may: kit.may(ctx, 'exportSubject'),
          href: `${href}/document/export`,
          word: t('subjects.exportDocument'),
        },
        { may: kit.may(ctx, 'exportSubject'), href: `${href}/export`, word: t('subjects.export') },
        {
          may: kit.may(ctx, 'holdSubject'),
          href: `${href}/${subject.hold ? 'release' : 'hold'}`,
          word: t(subject.hold ? 'hold.endAct' : 'hold.act'),
        },
        { may: kit.may(ctx, 'eraseSubject'), href: `${href}/erase`, word: t('erase.act') },
        { may: true, href: `${href}/json`, word: t('subjects.json') },
      ].filter(({ may }) => may),
    });
  });

  router.get('/:s/json', async (ctx) => {
    const { name } = nameOf(ctx, kit);
    const api = kit.api(ctx);
    const [subject, records, transactions] = await Promise.all([
      api.call('getSubject', { params: { name } }),
      api.call('listSubjectRecords', { params: { name } }),
      api.call('searchTransactions', { body: { subject: name, size: 200 } }),
    ]);
    ctx.set('Content-Disposition', 'attachment; filename="subject.json"');
    ctx.body = { subject: subject.body, records: records.body, transactions: transactions.body.values };
  });

  const showEdit = async (ctx: Context, failure?: ApiFailure) => {
    const { name, href } = nameOf(ctx, kit);
    const reader = kit.reader(ctx);
    const { body: subject } = await kit.api(ctx).call('getSubject', { params: { name } });
    const { emailAddress, defaultLanguage } = subject;
    const form = kit.form(ctx, {
      action: `${href}/edit`,
      submit: reader.t('subjects.save'),
      cancelUrl: href,
      fields: contactFields(reader),
      values: failure ? kit.posted(ctx) : { emailAddress, defaultLanguage },
      failure,
    });
    await kit.page(ctx, 'new', { title: reader.t('subjects.editOf', { name }), form }, failure?.status);
  };
  router.get('/:s/edit', (ctx) => showEdit(ctx));
  router.post('/:s/edit', async (ctx) => {
    const { name, href } = nameOf(ctx, kit);
    const { emailAddress = [''], defaultLanguage = [''] } = kit.posted(ctx);
    const body = { emailAddress: emailAddress[0] ?? '', defaultLanguage: defaultLanguage[0] ?? '' };
    try {
      // A change names the subject by its id (openapi.yaml).
      const { id } = (await kit.api(ctx).call('getSubject', { params: { name } })).body;
      await kit.api(ctx).call('updateSubject', { params: { name: id }, body });
      kit.open(ctx, href, 'subjectChanged');
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      await showEdit(ctx, error);
    }
  });

  const showLink = async (ctx: Context, failure?: ApiFailure) => {
    const { name, href } = nameOf(ctx, kit);
    const { t } = kit.reader(ctx);
    const { forms } = await listAskable(ctx, kit);
    const form = kit.form(ctx, {
      action: `${href}/link`,
      submit: t('link.make'),
      cancelUrl: href,
      fields: [
        {
          name: 'layout',
          label: t('link.form'),
          kind: 'select',
          options: forms.map((each) => [each.key, each.name] as const),
          isRequired: true,
        },
      ],
      values: kit.posted(ctx),
      failure,
    });
    await kit.page(ctx, 'new', { title: t('link.title', { name }), form }, failure?.status);
  };
  router.get('/:s/link', (ctx) => showLink(ctx));
  router.post('/:s/link', async (ctx) => {
    const { name } = nameOf(ctx, kit);
    const { t } = kit.reader(ctx);
    try {
      const body = { subject: name, layout: kit.posted(ctx).layout?.[0] ?? '' };
      const { body: made } = await kit.api(ctx).call('createTransaction', { body });
      await kit.secret(ctx, {
        title: t('link.made'),
        text: t('link.text'),
        label: t('link.label'),
        value: made.links.subject,
        next: { href: `${transactionsPath}/${made.id}`, word: t('link.next') },
      });
    } catch (error) {
      if (!(error instanceof ApiFailure)) throw error;
      await showLink(ctx, error);
    }
  });
}

function answerTable(reader: ConsoleReader, caption: string, rows: readonly Answer[]) {
  const { t } = reader;
  const columns: Column<Answer>[] = [
    {
      label: t('subjects.element'),
      cell: ({ bodyKey, bodySerial, object }) => ({
        code: bodyKey,
        href: `/console/elements/${encodeURIComponent(bodyKey)}`,
        note: object ? `${bodySerial} · ${object}` : bodySerial,
      }),
    },
    {
      label: t('answers.answer'),
      cell: ({ values, comment }) => ({
        text: values.map((each) => answerWord(reader, each)).join(', '),
        note: comment,
      }),
    },
    {
      label: t('subjects.status'),
      cell: ({ status, statusExplanation }) => ({
        state: stateMark(reader, 'recordStatus', status),
        ...(status !== 'VALID' && { note: reader.word('statusExplanation', statusExplanation) }),
      }),
    },
    {
      label: t('answers.given'),
      cell: ({ creationTimestamp, transaction }) => ({
        time: reader.time(creationTimestamp),
        href: `${transactionsPath}/${transaction}`,
      }),
    },
    {
      label: t('subjects.origin'),
      cell: ({ origin, author }) => ({ text: reader.word('origin', origin), note: author }),
    },
  ];
  return tableView(reader, { caption: t(caption), path: '', rows, columns });
}

function transactionTable(
  reader: ConsoleReader,
  rows: readonly components['schemas']['ListedTransaction'][],
) {
  const { t } = reader;
  return tableView(reader, {
    caption: t('subjects.transactions'),
    path: '',
    rows,
    columns: [
      { label: t('subjects.created'), cell: ({ created }) => ({ time: reader.time(created) }) },
      {
        label: t('subjects.transaction'),
        cell: ({ id }) => ({ code: id, href: `${transactionsPath}/${id}` }),
      },
      {
        label: t('subjects.state'),
        cell: ({ state }) => ({ state: stateMark(reader, 'transactionState', state) }),
      },
      {
        label: t('subjects.receipt'),
        cell: ({ id, receipt }) =>
          receipt ? { text: t('subjects.show'), href: `/console/receipts?transaction=${id}` } : { text: '–' },
      },
    ],
  });
}
