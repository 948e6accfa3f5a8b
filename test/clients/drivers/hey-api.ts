import {
  type ConsentEvent,
  createTransaction,
  getForm,
  getReceipt,
  listRecords,
  submitAnswers,
  withdrawConsents,
} from './client';
import { client } from './client/client.gen';
import { answersTo, event, require, step, subject, token, url } from './flow';

/** The flow with hey-api. */
async function main() {
  client.setConfig({ baseUrl: url, auth: ({ scheme }) => (scheme === 'bearer' ? token : undefined) });

  step('create');
  const created = await createTransaction({ body: { subject, layout: 'layout.001' } });
  require(created.data?.state === 'CREATED', created.error);
  const path = { txid: created.data.id };

  step('form');
  const form = await getForm({ path });
  require(form.data && typeof form.data === 'object', form.error);
  const answers = answersTo(form.data.elements);

  step('submit');
  const submitted = await submitAnswers({ path, body: answers });
  require(submitted.data?.state === 'COMMITTED', submitted.error);

  step('records');
  const records = await listRecords({ query: { subject } });
  require(records.data?.['processing.001']?.[0]?.subject === subject, records.error);

  step('receipt');
  const receipt = await getReceipt({ path });
  require(receipt.data && typeof receipt.data === 'object' && 'consents' in receipt.data, receipt.error);
  require(receipt.data.consents[0]?.answer[0], receipt.data);

  step('signed');
  // The type is that of JSON, whatever the media type is.
  const receiptAs = async (format: string, parseAs: 'blob' | 'text'): Promise<unknown> => {
    const { data, error } = await getReceipt({ path, query: { format }, parseAs });
    return data ?? error;
  };
  const jws = await receiptAs('jose', 'text');
  require(typeof jws === 'string' && jws.split('.').length === 3, jws);
  const xml = await receiptAs('xml', 'blob');
  require(xml instanceof Blob && (await xml.slice(0, 5).text()) === '<?xml', xml);

  step('event');
  const received: ConsentEvent = event();
  require(received.data.state === 'COMMITTED' && received.data.version > 0, received);

  step('withdraw');
  const withdrawal = await withdrawConsents({ path, body: {} });
  require(withdrawal.data?.kind === 'WITHDRAWAL', withdrawal.error);

  step('problem');
  const { error } = await createTransaction({ body: { subject, layout: 'unknown' } });
  require(error &&
    typeof error === 'object' &&
    error.errors?.[0]?.pointer === '/layout' &&
    error.code, error);

  step('done');
}

void main();
