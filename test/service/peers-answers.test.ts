import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { type Caller, signIn } from '../support/callers.ts';
import { startTestInstance, type TestInstance } from '../support/instance.ts';
import { rowsOf, runInDatabase } from '../support/live-database.ts';
import { type LiveForm, subjectOf, transactionIn } from '../support/live-subject.ts';
import { createTransaction, recordsOf } from '../support/live-transactions.ts';
import { pairInstances } from '../support/pair-instances.ts';
import { until } from '../support/until.ts';

type Entry = components['schemas']['Entry'];
type Peer = components['schemas']['Peer'];
type Transaction = components['schemas']['Transaction'];

let clinic: TestInstance;
let lab: TestInstance;
let clinicAdmin: Caller;
let labAdmin: Caller;
beforeAll(async () => {
  [clinic, lab] = await Promise.all([
    startTestInstance({ INSTANCE_NAME: 'Lakeside Clinic' }),
    startTestInstance({ INSTANCE_NAME: 'Northern Lab' }),
  ]);
  [clinicAdmin, labAdmin] = await Promise.all([signIn(clinic, 'admin'), signIn(lab, 'admin')]);
  await share('processing.002');
  await pairInstances(clinic, lab);
}, 60_000);
afterAll(async () => {
  await clinic?.stop();
  await lab?.stop();
});

async function share(key: string): Promise<void> {
  const { id, name } = (await (await labAdmin.get(`/models/serials/${key}`)).json()) as Entry;
  expect((await labAdmin.send('PUT', `/models/${id}`, { name, shared: true })).status).toBe(200);
}

const own = 'element/processing/processing.001/1.0';
const theirs = () => `processing.002@${new URL(lab.url).host}`;
const theirAnswer = () => `element/processing/${theirs()}/1.0`;

/** Has the clinic ask somebody, as soon as it knows what the laboratory shares. */
const ask = (context: Record<string, unknown> = {}) =>
  until(() =>
    createTransaction(clinicAdmin, {
      layoutData: { elements: ['processing.001', theirs()] },
      ...context,
    }),
  );
const answer = async (made: { id: string; token: string }) => {
  const response = await subjectOf(clinic, made).submit({
    [own]: ['accepted'],
    [theirAnswer()]: ['refused'],
  });
  expect(response.status).toBe(200);
  return transactionIn(response);
};
const atClinic = async (id: string) =>
  (await (await clinicAdmin.get(`/consents/${id}`)).json()) as Transaction;
const settled = (id: string, state: string) =>
  until(async () => {
    const transaction = await atClinic(id);
    expect(transaction.followers).toMatchObject([{ location: lab.url, state }]);
    return transaction;
  });

describe('an answer to a question of a paired instance', () => {
  it('is on record there, in its words and nowhere else', async () => {
    const made = await ask();
    const form = (await subjectOf(clinic, made).form()) as LiveForm;
    expect(form.elements.map(({ owner }) => owner)).toEqual([null, 'Northern Lab']);
    await answer(made);
    const { followers, state } = await settled(made.id, 'ACCEPTED');
    expect(state).toBe('COMMITTED');
    const [record] = (await recordsOf(labAdmin, made.subject))['processing.002'] ?? [];
    expect(record).toMatchObject({
      value: 'refused',
      origin: 'PEER',
      author: 'Lakeside Clinic',
      leader: { location: clinic.url, id: made.id },
      transaction: followers?.[0]?.id,
    });
    expect(Object.keys(await recordsOf(clinicAdmin, made.subject))).toEqual(['processing.001']);
  });

  it('leaves a receipt that the other has signed, and nothing to be sent', async () => {
    const made = await ask();
    await answer(made);
    await settled(made.id, 'ACCEPTED');
    const rows = await rowsOf<{ verdict: string; receipt: string }>(
      clinic,
      'SELECT r.verdict, r.receipt FROM peers.receipts AS r ORDER BY r.received_at DESC LIMIT 1',
    );
    expect(rows[0]?.verdict).toBe('committed');
    const claims = JSON.parse(
      Buffer.from(rows[0]?.receipt.split('.')[1] as string, 'base64url').toString(),
    ) as object;
    expect(claims).toMatchObject({ iss: lab.url, aud: clinic.url, verdict: 'committed' });
    const [peer] = (await (await clinicAdmin.get('/peers')).json()) as [Peer];
    expect(peer).toMatchObject({ url: lab.url, backlog: 0 });
  });

  it('comes into force there and here together, if that is wanted', async () => {
    const made = await ask({ peerCommit: 'together' });
    expect((await answer(made)).state).toBe('SUBMITTED');
    const { followers, state } = await settled(made.id, 'ACCEPTED');
    expect(state).toBe('COMMITTED');
    const [record] = (await recordsOf(labAdmin, made.subject))['processing.002'] ?? [];
    expect(record).toMatchObject({
      state: 'COMMITTED',
      status: 'VALID',
      transaction: followers?.[0]?.id,
    });
    const kinds = await rowsOf<{ kind: string }>(
      clinic,
      `SELECT r.kind FROM peers.receipts AS r JOIN transactions.followers AS f ON f.sid = r.sid
        WHERE f.transaction = '${made.id}' ORDER BY r.kind`,
    );
    expect(kinds.map(({ kind }) => kind)).toEqual(['decide', 'submit']);
    // Nobody has to ask for what has been said.
    await until(async () => expect(await rowsOf(lab, 'SELECT sid FROM peers.deliveries')).toEqual([]));
  });

  it('is refused by its owner for good when the question is not shared any more', async () => {
    const made = await ask();
    // Before the clinic could know of it.
    await runInDatabase(clinic, "UPDATE peers.catalogues SET due_at = 'infinity'");
    await runInDatabase(lab, "UPDATE forms.models SET shared = false WHERE key = 'processing.002'");
    await answer(made);
    expect((await settled(made.id, 'REFUSED')).followers?.[0]).toMatchObject({ reason: 'unknown-element' });
    expect(await recordsOf(labAdmin, made.subject)).toEqual({});
  });
});
