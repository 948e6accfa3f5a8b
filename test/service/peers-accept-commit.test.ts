import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { letTimePass, rowsOf } from '../support/instances/live-database.ts';
import { eventsOf, historyOf, keepEvents } from '../support/instances/live-events.ts';
import { recordsOf } from '../support/instances/live-transactions.ts';
import { type OwnerInstance, startOwner } from '../support/instances/owner-instance.ts';
import { makePart, newPeer, type Part } from '../support/peers/peer-parts.ts';

type Transaction = components['schemas']['Transaction'];

const letter = 'element/processing/processing.001/1.0';
const often = 'element/preference/preference.001/1.0';

let lab: OwnerInstance;
beforeAll(async () => {
  lab = await startOwner();
  await keepEvents(lab);
  for (const key of ['processing.001', 'processing.002', 'preference.001', 'conditions.001'])
    await lab.share(key);
}, 60_000);
afterAll(() => lab?.stop());

const transactionOf = async (id: string) =>
  (await (await lab.admin.get(`/consents/${id}`)).json()) as Transaction;
/** Sends a part, which must be accepted. @returns the id of its transaction. */
async function accept(part: Part): Promise<string> {
  const said = await lab.one.acceptSubmission(part);
  expect(said).toEqual({ verdict: 'committed', id: expect.any(String) });
  return said.id as string;
}

describe('a part of the answers that a peer collected', () => {
  it('is stored with the time of the database, even if that has jumped', async () => {
    const dated = async () => {
      const part = await makePart(lab, { peer: newPeer({}), answers: { [letter]: ['accepted'] } });
      const [row] = await rowsOf<{ off: number }>(
        lab,
        `SELECT extract(epoch FROM now() - changed_at)::float8 AS off FROM transactions.transactions WHERE id = '${await accept(part)}'`,
      );
      return row?.off;
    };
    expect(await dated()).toBeLessThan(60);
    await letTimePass(lab, '-10 minutes');
    expect(await dated()).toBeGreaterThanOrEqual(600);
    expect(await dated()).toBeGreaterThanOrEqual(600);
    await letTimePass(lab, '0');
    expect(await dated()).toBeLessThan(60);
  });

  it('becomes a committed transaction with records, a receipt and its leader', async () => {
    const peer = newPeer({ name: 'St. Mary Hospital' });
    const answers = { [letter]: ['accepted'], [often]: ['Once a month'] };
    const part = await makePart(lab, { peer, answers, submission: { object: 'contract 7' } });
    const { subject, leader } = part.submission;
    const id = await accept(part);

    expect(await transactionOf(id)).toMatchObject({
      subject,
      leader,
      state: 'COMMITTED',
      author: 'St. Mary Hospital',
      followers: [],
      language: 'en',
      context: { origin: 'PEER', object: 'contract 7', validity: 'P6M' },
    });
    const records = await recordsOf(lab.admin, subject);
    expect(Object.keys(records).sort()).toEqual(
      ['preference.001', 'processing.001'].map((key) => `${key}|${subject}|contract 7`),
    );
    expect(records[`preference.001|${subject}|contract 7`]).toMatchObject([
      {
        values: ['Once a month'],
        state: 'COMMITTED',
        status: 'VALID',
        bodySerial: '1.0',
        infoKey: 'information.001',
        origin: 'PEER',
        author: 'St. Mary Hospital',
        transaction: id,
        leader,
      },
    ]);
    const receipt = await (await lab.admin.get(`/receipts/${id}`)).json();
    expect(receipt).toMatchObject({
      transaction: id,
      subject,
      collectionMethod: 'PEER',
      author: 'St. Mary Hospital',
      leader,
      collector: { instance: lab.url, name: 'Research lab' },
      consents: [
        { identifier: often, answer: ['Once a month'], owner: 'Research lab' },
        { identifier: letter, answer: ['accepted'], owner: 'Research lab' },
      ],
    });
    expect(await historyOf(lab, { id })).toEqual([
      { version: 1, state: 'CREATED' },
      { version: 2, state: 'COMMITTED' },
    ]);
    expect((await eventsOf(lab, { id })).map(({ event }) => event.type)).toEqual([
      'io.accord.consent.created.v1',
      'io.accord.consent.committed.v1',
    ]);
  });

  it('gets the same verdict again and is stored once, however often and wherever it arrives', async () => {
    const part = await makePart(lab);
    const id = await accept(part);
    for (const replica of [lab.one, lab.other, lab.one])
      expect(await replica.acceptSubmission(part)).toEqual({ verdict: 'committed', id });
    expect(Object.values(await recordsOf(lab.admin, part.submission.subject)).flat()).toHaveLength(1);
  });

  it('keeps its verdict while forms is unavailable; new parts get a 503 during that time', async () => {
    const [part, next] = [await makePart(lab), await makePart(lab)];
    const id = await accept(part);
    await lab.withoutForms(async () => {
      expect(await lab.one.acceptSubmission(part)).toEqual({ verdict: 'committed', id });
      await expect(lab.one.acceptSubmission(next)).rejects.toMatchObject({ code: 'unavailable' });
    });
    await accept(next);
  });

  it('may be sealed to a replaced key that is still available', async () => {
    await accept(await makePart(lab, { key: lab.formerSealingKey }));
  });

  it('is stored once when two replicas receive it at the same time', async () => {
    const part = await makePart(lab);
    const said = await Promise.all(
      Array.from({ length: 8 }, (_, index) => (index % 2 ? lab.one : lab.other).acceptSubmission(part)),
    );
    expect(new Set(said.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(said[0]?.verdict).toBe('committed');
    const { subject } = part.submission;
    expect(
      await rowsOf(lab, 'SELECT id FROM transactions.transactions WHERE subject = $1', [subject]),
    ).toHaveLength(1);
  });
});
