import type { Context } from 'koa';
import type { components } from '#lib/contracts/openapi.gen.ts';
import type { ApiClient } from '../../api/api-client.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import type { PageLocals, RoomKit } from '../../pages/kit.ts';
import { consolePath } from '../../pages/navigation.ts';
import { readPanels } from '../../pages/panel.ts';
import { stateMark } from '../../pages/states.ts';
import { tableView } from '../../pages/table.ts';
import { subjectPath } from '../subjects/subject-path.ts';

/** The room Integration shows webhooks. */
const webhooksPath = `${consolePath}/integration/webhooks`;

type Transaction = components['schemas']['ListedTransaction'];

/** Everything about a transaction that its page shows, read side by side. */
export async function readTransaction(ctx: Context, kit: RoomKit, id: string): Promise<PageLocals> {
  const reader = kit.reader(ctx);
  const api = kit.api(ctx);
  const params = { txid: id };
  const { body: transaction } = await api.call('getTransaction', { params });
  const panels = await readPanels(reader, {
    history: api.call('getHistory', { params }).then(({ body }) => historyTable(reader, body.values)),
    messages: api.call('listMessages', { params }).then(({ body }) => messageTable(reader, body)),
    deliveries: readDeliveries(api, id).then((rows) => deliveryTable(reader, rows)),
  });
  const href = `${kit.path}/${id}`;
  return {
    title: reader.t('transactions.one', { id }),
    facts: factsOf(reader, transaction, kit),
    link: transaction.links?.subject,
    receipt: transaction.links?.receipt,
    ...panels,
    parts: partTable(reader, transaction.followers),
    recipients: transaction.recipients && recipientTable(reader, transaction.recipients),
    context: JSON.stringify(transaction.context ?? {}, null, 2),
    acts: actsOf(transaction)
      .filter((act) => kit.may(ctx, operations[act]))
      .map((act) => ({
        href: `${href}/${act}`,
        word: reader.t(`transactions.${act}`),
        tone: act === 'cancel' || act === 'withdraw' ? 'ending' : undefined,
      })),
  };
}

const operations = {
  cancel: 'cancelTransaction',
  child: 'createChild',
  invite: 'sendInvitation',
  withdraw: 'withdrawConsents',
} as const;

const finalStates = ['COMMITTED', 'CANCELLED', 'TIMEOUT', 'ROLLBACK'];

/** What may be done with a transaction in its state. */
function actsOf({ state, updatable, erased }: Transaction): (keyof typeof operations)[] {
  if (erased) return [];
  const isFinal = finalStates.includes(state);
  return [
    ...(isFinal ? [] : (['invite'] as const)),
    ...(isFinal && updatable ? (['child'] as const) : []),
    ...(isFinal ? [] : (['cancel'] as const)),
    ...(state === 'COMMITTED' ? (['withdraw'] as const) : []),
  ];
}

/** Webhooks whose deliveries are looked up: an instance has few. */
const maxWebhooks = 10;

/** The newest deliveries that told a webhook of the transaction. */
async function readDeliveries(api: ApiClient, sourceId: string) {
  const { body: webhooks } = await api.call('listWebhooks');
  const lists = await Promise.all(
    webhooks.slice(0, maxWebhooks).map(async (webhook) => {
      const { body } = await api.call('listDeliveries', {
        params: { id: webhook.id },
        query: { sourceId },
      });
      return body.map((delivery) => ({ ...delivery, webhook }));
    }),
  );
  return lists.flat().sort((one, other) => (one.createdAt < other.createdAt ? 1 : -1));
}

function deliveryTable(reader: ConsoleReader, rows: Awaited<ReturnType<typeof readDeliveries>>) {
  return tableView(reader, {
    caption: reader.t('transactions.deliveries'),
    path: '',
    rows,
    columns: [
      { label: reader.t('transactions.at'), cell: ({ createdAt }) => ({ time: reader.time(createdAt) }) },
      {
        label: reader.t('transactions.webhook'),
        cell: ({ webhook: { id, name } }) => ({ text: name, href: `${webhooksPath}/${id}` }),
      },
      { label: reader.t('transactions.action'), cell: ({ action }) => ({ code: action }) },
      {
        label: reader.t('transactions.state'),
        cell: ({ status, error }) => ({
          state: stateMark(reader, 'deliveryStatus', status),
          ...(error && { note: error }),
        }),
      },
    ],
  });
}

function factsOf(reader: ConsoleReader, transaction: Transaction, { path, names }: RoomKit) {
  const { t } = reader;
  const { subject, state, kind, created, erased, expires, author, language, parent, leader, context } =
    transaction;
  const fact = (key: string, cell: object) => ({ label: t(`transactions.${key}`), cell });
  return [
    fact('state', { state: stateMark(reader, 'transactionState', state) }),
    ...(kind ? [fact('kind', { text: t('transactions.withdrawal') })] : []),
    fact('subject', { text: subject, href: subjectPath({ names }, subject) }),
    fact('created', { time: reader.time(created) }),
    ...(erased ? [fact('erased', { time: reader.time(erased) })] : []),
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

function recipientTable(reader: ConsoleReader, rows: readonly components['schemas']['Recipient'][]) {
  return tableView(reader, {
    caption: reader.t('transactions.recipients'),
    path: '',
    rows,
    columns: [
      { label: reader.t('transactions.organisation'), cell: ({ name }) => ({ text: name }) },
      {
        label: reader.t('transactions.state'),
        cell: ({ state, outcome, note }) => ({
          state: stateMark(reader, 'noticeState', outcome === 'kept' ? 'KEPT' : state),
          ...(note && { note }),
        }),
      },
      { label: reader.t('transactions.changed'), cell: ({ since }) => ({ time: reader.time(since) }) },
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
