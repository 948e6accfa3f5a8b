import axios, { isAxiosError } from 'axios';
import { type ConsentEvent, getAccord, type Problem } from './client/accord';
import { answersTo, event, require, step, subject, token, url } from './flow';

/** The flow with orval. */
async function main() {
  axios.defaults.baseURL = url;
  axios.defaults.headers.common.Authorization = `Bearer ${token}`;
  const accord = getAccord();

  step('create');
  const { data: created } = await accord.createTransaction({ subject, layout: 'layout.001' });
  require(created.state === 'CREATED', created);
  const { id } = created;

  step('form');
  const { data: form } = await accord.getForm(id);
  require(typeof form === 'object', form);
  const answers = answersTo(form.elements);

  step('submit');
  const { data: submitted } = await accord.submitAnswers(id, answers);
  require(submitted.state === 'COMMITTED', submitted);

  step('records');
  const { data: records } = await accord.listRecords({ subject });
  require(records['processing.001']?.[0]?.subject === subject, records);

  step('receipt');
  // Receipts also come as PDF, so orval takes every one for a blob unless it is told otherwise.
  const { data: receipt } = await accord.getReceipt(id, undefined, { responseType: 'json' });
  require(typeof receipt === 'object' && 'consents' in receipt, receipt);
  require(receipt.consents[0]?.answer[0], receipt);

  step('signed');
  // The type is a union of all formats.
  const { data: jws } = await accord.getReceipt(id, { format: 'jose' }, { responseType: 'text' });
  require(typeof jws === 'string' && jws.split('.').length === 3, jws);
  const { data: xml } = await accord.getReceipt(id, { format: 'xml' }, { responseType: 'arraybuffer' });
  require(xml instanceof Buffer && xml.toString('latin1', 0, 5) === '<?xml', xml);

  step('event');
  const received: ConsentEvent = event();
  require(received.data.state === 'COMMITTED' && received.data.version > 0, received);

  step('withdraw');
  const { data: withdrawal } = await accord.withdrawConsents(id, {});
  require(withdrawal.kind === 'WITHDRAWAL', withdrawal);

  step('problem');
  const failure = await accord
    .createTransaction({ subject, layout: 'unknown' })
    .catch((error: unknown) => error);
  require(isAxiosError<Problem>(failure), failure);
  require(failure.response?.data.errors?.[0]?.pointer === '/layout' && failure.response?.data.code, failure
    .response?.data);

  step('done');
}

void main();
