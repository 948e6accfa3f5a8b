import createClient from 'openapi-fetch';
import type { components, paths } from './client/schema';
import { answersTo, event, require, step, subject, token, url } from './flow';

/** The flow with openapi-fetch, by the types of openapi-typescript. */
async function main() {
  const accord = createClient<paths>({ baseUrl: url, headers: { Authorization: `Bearer ${token}` } });

  step('create');
  const created = await accord.POST('/consents', { body: { subject, layout: 'layout.001' } });
  require(created.data?.state === 'CREATED', created);
  const params = { path: { txid: created.data.id } };

  step('form');
  const form = await accord.GET('/consents/{txid}/submit', { params });
  require(typeof form.data === 'object', form);
  const answers = answersTo(form.data.elements);

  step('submit');
  const submitted = await accord.POST('/consents/{txid}/submit', { params, body: answers });
  require(submitted.data?.state === 'COMMITTED', submitted);

  step('records');
  const records = await accord.GET('/records', { params: { query: { subject } } });
  require(records.data?.['processing.001']?.[0]?.subject === subject, records);

  step('receipt');
  const receipt = await accord.GET('/receipts/{txid}', { params });
  require(typeof receipt.data === 'object' && 'consents' in receipt.data, receipt);
  require(receipt.data.consents[0]?.answer[0], receipt);

  step('signed');
  const as = (format: string) => ({ path: params.path, query: { format } });
  const jws = await accord.GET('/receipts/{txid}', { params: as('jose'), parseAs: 'text' });
  require(jws.data?.split('.').length === 3, jws);
  const xml = await accord.GET('/receipts/{txid}', { params: as('xml'), parseAs: 'blob' });
  require(xml.data && (await xml.data.slice(0, 5).text()) === '<?xml', xml);

  step('event');
  const received: components['schemas']['ConsentEvent'] = event();
  require(received.data.state === 'COMMITTED' && received.data.version > 0, received);

  step('withdraw');
  const withdrawal = await accord.POST('/consents/{txid}/withdraw', { params, body: {} });
  require(withdrawal.data?.kind === 'WITHDRAWAL', withdrawal);

  step('problem');
  const refused = await accord.POST('/consents', { body: { subject, layout: 'unknown' } });
  require(typeof refused.error === 'object', refused);
  require(refused.error.errors?.[0]?.pointer === '/layout' && refused.error.code, refused);

  step('done');
}

void main();
