import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sql } from '#lib/db/sql.ts';
import { type DeliveringInstance, startDelivering } from '../support/delivering-instance.ts';
import { type OwnOwner, takeParts } from '../support/own-owner.ts';
import { type OwnPeer, startOwnPeer } from '../support/peer-of-our-own.ts';

let clinic: DeliveringInstance;
let lab: OwnPeer;
let owner: OwnOwner;
beforeEach(async () => {
  [clinic, lab] = await Promise.all([startDelivering(), startOwnPeer()]);
  owner = takeParts(lab);
  await clinic.pairWith(lab);
});
afterEach(async () => {
  await lab?.close();
  await clinic?.stop();
});

const waiting = () => clinic.db.query(sql`SELECT sid, attempts, last_error FROM deliveries`);
const outcomeOf = (sid: string) =>
  vi.waitFor(
    () => {
      const found = clinic.outcomes.filter(({ subject }) => subject === sid);
      expect(found).toHaveLength(1);
      return found[0]?.data;
    },
    { timeout: 15_000 },
  );

describe('a part of the answers that is released', () => {
  it('is sent to its owner, and what the owner has signed is kept and told', async () => {
    const sid = await clinic.release(lab);
    expect(await outcomeOf(sid)).toEqual({
      submission: sid,
      peer: lab.url,
      verdict: 'committed',
      id: 'theirs',
    });
    expect(owner.came).toHaveLength(1);
    expect(owner.came[0]).toMatchObject({ method: 'PUT', path: `/federation/submissions/${sid}` });
    expect(JSON.parse(owner.came[0]?.body as string)).toEqual(clinic.transactions.parts.get(sid)?.submission);
    expect(await waiting()).toEqual([]);
    expect(await clinic.db.query(sql`SELECT kind, sid, verdict FROM receipts`)).toEqual([
      { kind: 'submit', sid, verdict: 'committed' },
    ]);
  });

  it('is sent once, however often the event comes', async () => {
    const sid = await clinic.release(lab);
    await outcomeOf(sid);
    clinic.transactions.parts.delete(sid);
    await clinic.tell('submission.released', { submission: sid, peer: lab.url });
    await vi.waitFor(async () => expect(await waiting()).toEqual([]));
    expect(owner.came).toHaveLength(1);
  });
});
