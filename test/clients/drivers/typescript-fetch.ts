import {
  Configuration,
  type ConsentEvent,
  ConsentEventFromJSON,
  ProblemFromJSON,
  ResponseError,
  TransactionsApi,
} from './client/index';
import { answersTo, event, require, step, subject, token, url } from './flow';

/** The flow with the typescript-fetch client of openapi-generator. */
async function main() {
  const transactions = new TransactionsApi(new Configuration({ basePath: url, accessToken: token }));

  step('create');
  const created = await transactions.createTransaction({ consentContext: { subject, layout: 'layout.001' } });
  require(created.state === 'CREATED', created);
  const txid = created.id;

  step('form');
  const form = await transactions.getForm({ txid });
  const requestBody = answersTo(form.elements);

  step('submit');
  const submitted = await transactions.submitAnswers({ txid, requestBody });
  require(submitted.state === 'COMMITTED', submitted);

  step('records');
  const records = await transactions.listRecords({ subject });
  require(records['processing.001']?.[0]?.subject === subject, records);

  step('receipt');
  const receipt = await transactions.getReceipt({ txid });
  require(receipt.consents[0]?.answer[0], receipt);

  step('signed');
  const jws = await (await transactions.getReceiptRaw({ txid, format: 'jose' })).raw.text();
  require(jws.split('.').length === 3, jws);
  const xml = await (await transactions.getReceiptRaw({ txid, format: 'xml' })).raw.blob();
  require((await xml.slice(0, 5).text()) === '<?xml', xml);

  step('event');
  const received: ConsentEvent = ConsentEventFromJSON(event());
  require(received.data.state === 'COMMITTED' && received.data.version > 0, received);

  step('withdraw');
  const withdrawal = await transactions.withdrawConsents({ txid, withdrawalInput: {} });
  require(withdrawal.kind === 'WITHDRAWAL', withdrawal);

  step('problem');
  const failure = await transactions
    .createTransaction({ consentContext: { subject, layout: 'unknown' } })
    .catch((error: unknown) => error);
  require(failure instanceof ResponseError, failure);
  const problem = ProblemFromJSON(await failure.response.json());
  require(problem.errors?.[0]?.pointer === '/layout' && problem.code, problem);

  step('done');
}

void main();
