import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import type { PageLocals, RoomKit } from '../../pages/kit.ts';
import { readPanels } from '../../pages/panel.ts';
import { stateMark } from '../../pages/states.ts';
import { tableView } from '../../pages/table.ts';

type Transaction = components['schemas']['Transaction'];

/** Everything about a transaction that its page shows, read side by side. */
export async function readTransaction(ctx: Context, kit: RoomKit, id: string): Promise<PageLocals> {
  const reader = kit.reader(ctx);
  const api = kit.api(ctx);
  const params = { txid: id };
  const { body: transaction } = await api.call('getTransaction', { params });
  const panels = await readPanels(reader, {
    history: api.call('getHistory', { params }).then(({ body }) => historyTable(reader, body.values)),
    messages: api.call('listMessages', { params }).then(({ body }) => messageTable(reader, body)),
  });
  const href = `${kit.path}/${id}`;
  return {
    title: reader.t('transactions.one', { id }),
    facts: factsOf(reader, transaction, kit.path),
    link: transaction.links.subject,
    receipt: transaction.links.receipt,
    ...panels,
    parts: partTable(reader, transaction.followers),
    context: JSON.stringify(transaction.context ?? {}, null, 2),
    acts: actsOf(transaction)
      .filter((act) => kit.may(ctx, operations[act]))
      .map((act) => ({
        href: `${href}/${act}`,
        word: reader.t(`transactions.${act}`),
      })),
  };
}

const operations = { cancel: 'cancelTransaction', child: 'createChild', invite: 'sendInvitation' } as const;

const finalStates = ['COMMITTED', 'CANCELLED', 'TIMEOUT', 'ROLLBACK'];

/** What may be done with a transaction in its state. */
function actsOf({ state, updatable }: Transaction): ('invite' | 'child' | 'cancel')[] {
  const isFinal = finalStates.includes(state);
  return [
    ...(isFinal ? [] : (['invite'] as const)),
    ...(isFinal && updatable ? (['child'] as const) : []),
    ...(isFinal ? [] : (['cancel'] as const)),
  ];
}

function factsOf(reader: ConsoleReader, transaction: Transaction, path: string) {
  const { t } = reader;
  const { subject, state, created, expires, author, language, parent, leader, context } = transaction;
  const fact = (key: string, cell: object) => ({ label: t(`transactions.${key}`), cell });
  return [
    fact('state', { state: stateMark(reader, 'transactionState', state) }),
    fact('subject', { text: subject }),
    fact('created', { time: reader.time(created) }),
    ...(finalStates.includes(state) ? [] : [fact('expires', { time: reader.time(expires) })]),
    ...(author ? [fact('author', { text: author })] : []),
    ...(context?.origin ? [fact('origin', { text: reader.word('origin', context.origin) })] : []),
    ...(language ? [fact('language', { text: reader.languageName(language) })] : []),
    ...(context?.layout ? [fact('form', { code: context.layout })] : []),
    ...(parent ? [fact('parent', { code: parent, href: `${path}/${parent}` })] : []),
    ...(leader ? [fact('leader', { code: leader.location, note: leader.id })] : []),
  ];
}

function historyTable(reader: ConsoleReader, rows: components['schemas']['TransactionHistory']['values']) {
  return tableView(reader, {
    caption: reader.t('transactions.history'),
    path: '',
    rows,
    columns: [
      { label: reader.t('transactions.at'), cell: ({ at }) => ({ time: reader.time(at) }) },
      {
        label: reader.t('transactions.state'),
        cell: ({ state }) => ({ state: stateMark(reader, 'transactionState', state) }),
      },
    ],
  });
}

function partTable(reader: ConsoleReader, rows: readonly components['schemas']['Follower'][]) {
  return tableView(reader, {
    caption: reader.t('transactions.parts'),
    path: '',
    rows,
    columns: [
      {
        label: reader.t('transactions.owner'),
        cell: ({ name, location }) => ({ text: name, note: location }),
      },
      {
        label: reader.t('transactions.state'),
        cell: ({ state, reason }) => ({
          state: stateMark(reader, 'partState', state),
          ...(reason && { note: reason }),
        }),
      },
      { label: reader.t('transactions.changed'), cell: ({ changed }) => ({ time: reader.time(changed) }) },
    ],
  });
}

function messageTable(reader: ConsoleReader, rows: readonly components['schemas']['Message'][]) {
  return tableView(reader, {
    caption: reader.t('transactions.messages'),
    path: '',
    rows,
    columns: [
      { label: reader.t('transactions.at'), cell: ({ created }) => ({ time: reader.time(created) }) },
      {
        label: reader.t('transactions.kind'),
        cell: ({ kind }) => ({ text: reader.word('messageKind', kind) }),
      },
      { label: reader.t('transactions.to'), cell: ({ to }) => ({ code: to }) },
      {
        label: reader.t('transactions.state'),
        cell: ({ state, error }) => ({
          state: stateMark(reader, 'messageStatus', state),
          ...(error && { note: error }),
        }),
      },
    ],
  });
}
