import type { Context } from 'koa';
import type { ApiClient } from '../../api/api-client.ts';
import type { Schemas } from '../../api/api-types.ts';
import { readEntryNames } from '../../models/read-model.ts';
import { actLinks } from '../../pages/acts.ts';
import { factsView, shortTable } from '../../pages/columns.ts';
import type { ConsoleReader } from '../../pages/console-reader.ts';
import { consolePath } from '../../pages/navigation.ts';
import { outboundReason } from '../../pages/outbound-reason.ts';
import { readPanels } from '../../pages/panel.ts';
import { stateMark } from '../../pages/states.ts';
import type { PageLocals, RoomTools } from '../../pages/tools.ts';
import { receiptPath } from '../../people/find-transaction.ts';
import { formCell } from '../../people/form-column.ts';
import { subjectPath } from '../../people/subject-path.ts';

/** The room Integration shows webhooks. */
const webhooksPath = `${consolePath}/integration/webhooks`;

type Transaction = Schemas['ListedTransaction'];

/** Everything about a transaction that its page shows, read side by side. */
export async function readTransaction(ctx: Context, tools: RoomTools, id: string): Promise<PageLocals> {
  const reader = tools.reader(ctx);
  const api = tools.api(ctx);
  const params = { txid: id };
  const [{ body: transaction }, formName] = await Promise.all([
    api.call('getTransaction', { params }),
    readEntryNames(ctx, tools, 'layout'),
  ]);
  const panels = await readPanels(reader, {
    history: api.call('getHistory', { params }).then(({ body }) => historyTable(reader, body.values)),
    messages: api.call('listMessages', { params }).then(({ body }) => messageTable(reader, body)),
    ...(tools.may(ctx, 'listDeliveries') && {
      deliveries: readDeliveries(api, id).then((rows) => deliveryTable(reader, rows)),
    }),
  });
  return {
    title: reader.t('transactions.one', { id }),
    facts: factsOf(reader, transaction, { tools, formName }),
    receipt: transaction.receipt && !transaction.erased && receiptPath(id),
    ...panels,
    parts: partTable(reader, transaction.followers),
    recipients: transaction.recipients && recipientTable(reader, transaction.recipients),
    context: JSON.stringify(transaction.context ?? {}, null, 2),
    acts: actsOf(ctx, tools, transaction),
  };
}

const finalStates = ['COMMITTED', 'CANCELLED', 'TIMEOUT', 'ROLLBACK'];

/** What may be done with a transaction in its state. */
function actsOf(
  ctx: Context,
  tools: RoomTools,
  { id, kind, state, subject, updatable, erased }: Transaction,
) {
  if (erased) return [];
  const isFinal = finalStates.includes(state);
  const act = (name: string) => ({ href: `${tools.path}/${id}/${name}`, word: `transactions.${name}` });
  return actLinks(ctx, tools, [
    { ...act('link'), when: !isFinal && !tools.onlyReads(ctx, 'getTransaction') },
    { ...act('invite'), operation: 'sendInvitation', when: !isFinal },
    { ...act('child'), operation: 'createChild', when: isFinal && updatable },
    { ...act('cancel'), operation: 'cancelTransaction', when: !isFinal, isEnding: true },
    // Each consent is withdrawn by itself, with the way and the day of the request: at the person.
    {
      href: subjectPath(tools, subject),
      word: 'transactions.consents',
      operation: 'withdrawConsents',
      when: state === 'COMMITTED' && kind !== 'WITHDRAWAL',
    },
  ]);
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

type Delivery = Awaited<ReturnType<typeof readDeliveries>>[number];

function deliveryTable(reader: ConsoleReader, rows: readonly Delivery[]) {
  return shortTable(reader, 'transactions.deliveries', {
    rows,
    columns: ({ time, text, code, state }) => [
      time('transactions.at', ({ createdAt }) => createdAt),
      text('transactions.webhook', ({ webhook }) => webhook.name, {
        href: ({ webhook }) => `${webhooksPath}/${webhook.id}`,
      }),
      code('transactions.action', ({ action }) => action),
      state('transactions.state', 'deliveryStatus', ({ status }) => status, {
        note: ({ error, errorCode: code }) =>
          error === undefined ? undefined : outboundReason(reader, { code, text: error }),
      }),
    ],
  });
}

function factsOf(
  reader: ConsoleReader,
  transaction: Transaction,
  { tools: { path, names }, formName }: { tools: RoomTools; formName(key: string): string },
) {
  const { subject, state, created, erased, expires, author, language, parent, leader, context } = transaction;
  return factsView(reader, {
    'transactions.state': { state: stateMark(reader, 'transactionState', state) },
    'transactions.subject': { text: subject, href: subjectPath({ names }, subject) },
    'transaction.form': formCell(reader, transaction, formName),
    'transactions.created': { time: reader.time(created) },
    'transactions.erased': erased && { time: reader.time(erased) },
    'transactions.expires': !finalStates.includes(state) && { time: reader.time(expires) },
    'transactions.author': author && { text: author },
    'transactions.origin': context?.origin && { text: reader.word('origin', context.origin) },
    ...collectionFacts(reader, context?.collection, `${path}/${transaction.id}/scan`),
    'transactions.language': language && { text: reader.languageName(language) },
    'transactions.parent': parent && { code: parent, href: `${path}/${parent}` },
    'transactions.leader': leader && { code: leader.location, note: leader.id },
  });
}

/** How answers were given that were recorded on behalf of the person. */
function collectionFacts(
  reader: ConsoleReader,
  collection: Schemas['CollectionDetails'] | undefined,
  scanUrl: string,
) {
  if (!collection) return {};
  const { way, givenOn, reference, document } = collection;
  return {
    'transactions.way': { text: reader.word('way', way) },
    'transactions.givenOn': givenOn && { text: reader.plainDate(givenOn) },
    'transactions.original': reference && { text: reference },
    'transactions.scan': document && { text: reader.t('transactions.openScan'), href: scanUrl },
  };
}

type Change = Schemas['TransactionHistory']['values'][number];

function historyTable(reader: ConsoleReader, rows: readonly Change[]) {
  return shortTable(reader, 'transactions.history', {
    file: 'history',
    rows,
    columns: ({ time, state }) => [
      time('transactions.at', ({ at }) => at),
      state('transactions.state', 'transactionState', (change) => change.state),
    ],
  });
}

type Follower = Schemas['Follower'];

function partTable(reader: ConsoleReader, rows: readonly Follower[]) {
  // A part that its owner did not confirm in time may be in force there.
  const stateOf = ({ state: told, reason }: Follower) =>
    told === 'DROPPED' && reason === 'expired' ? 'EXPIRED' : told;
  const choicesOf = ({ location }: Follower) => `${location}/choices`;
  return shortTable(reader, 'transactions.parts', {
    rows,
    columns: ({ text, code, state, time }) => [
      text('transactions.owner', ({ name }) => name),
      code('transactions.ownerPage', choicesOf, { href: choicesOf }),
      state('transactions.state', 'partState', stateOf, { note: ({ reason }) => reason }),
      time('transactions.changed', ({ changed }) => changed),
    ],
  });
}

type Recipient = Schemas['Recipient'];

function recipientTable(reader: ConsoleReader, rows: readonly Recipient[]) {
  const stateOf = ({ state: told, outcome }: Recipient) => (outcome === 'kept' ? 'KEPT' : told);
  return shortTable(reader, 'transactions.recipients', {
    rows,
    columns: ({ text, state, time }) => [
      text('transactions.organisation', ({ name }) => name),
      state('transactions.state', 'noticeState', stateOf, { note: ({ note }) => note }),
      time('transactions.changed', ({ since }) => since),
    ],
  });
}

type Message = Schemas['Message'];

function messageTable(reader: ConsoleReader, rows: readonly Message[]) {
  return shortTable(reader, 'transactions.messages', {
    rows,
    columns: ({ time, word, code, state }) => [
      time('transactions.at', ({ created }) => created),
      word('transactions.kind', 'messageKind', ({ kind }) => kind),
      code('transactions.to', ({ to }) => to),
      state('transactions.state', 'messageStatus', (message) => message.state, {
        note: ({ error }) => error,
      }),
    ],
  });
}
