import { isAxiosError, type ResponseType } from 'axios';
import { Configuration, type ConsentEvent, type Problem, TransactionsApi } from './client/index';
import { answersTo, event, require, step, subject, token, url } from './flow';

/** The flow with the typescript-axios client of openapi-generator. */
async function main() {
  const transactions = new TransactionsApi(new Configuration({ basePath: url, accessToken: token }));

  step('create');
  const { data: created } = await transactions.createTransaction({ subject, layout: 'layout.001' });
  require(created.state === 'CREATED', created);
  const { id } = created;

  step('form');
  const { data: form } = await transactions.getForm(id);
  const answers = answersTo(form.elements);

  step('submit');
  const { data: submitted } = await transactions.submitAnswers(id, answers);
  require(submitted.state === 'COMMITTED', submitted);

  step('records');
  const { data: records } = await transactions.listRecords(subject);
  require(records['processing.001']?.[0]?.subject === subject, records);

  step('receipt');
  const { data: receipt } = await transactions.getReceipt(id);
  require(receipt.consents[0]?.answer[0], receipt);

  step('signed');
  // The type is that of JSON, whatever the media type is.
  const receiptAs = async (format: string, responseType: ResponseType): Promise<unknown> => {
    const read = await transactions.getReceipt(id, format, ...[undefined, undefined, undefined, undefined], {
      responseType,
    });
    return read.data;
  };
  const jws = await receiptAs('jose', 'text');
  require(typeof jws === 'string' && jws.split('.').length === 3, jws);
  const xml = await receiptAs('xml', 'arraybuffer');
  require(xml instanceof Buffer && xml.toString('latin1', 0, 5) === '<?xml', xml);

  step('event');
  const received: ConsentEvent = event();
  require(received.data.state === 'COMMITTED' && received.data.version > 0, received);

  step('withdraw');
  const { data: withdrawal } = await transactions.withdrawConsents(id, {});
  require(withdrawal.kind === 'WITHDRAWAL', withdrawal);

  step('problem');
  const failure = await transactions
    .createTransaction({ subject, layout: 'unknown' })
    .catch((error: unknown) => error);
  require(isAxiosError<Problem>(failure), failure);
  require(failure.response?.data.errors?.[0]?.pointer === '/layout' && failure.response?.data.code, failure
    .response?.data);

  step('done');
}

void main();
