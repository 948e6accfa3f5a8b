import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { rowsOf } from '../support/instances/live-database.ts';
import { type OwnerInstance, startOwner } from '../support/instances/owner-instance.ts';
import { makePart, newPeer } from '../support/peers/peer-parts.ts';

let lab: OwnerInstance;
beforeAll(async () => {
  lab = await startOwner();
  await lab.share('processing.001');
}, 60_000);
afterAll(() => lab?.stop());

const send = async (subjectPrefix: string, subject: string) =>
  lab.one.acceptSubmission(
    await makePart(lab, { peer: newPeer({ subjectPrefix }), submission: { subject } }),
  );

describe('the prefix of a peer', () => {
  it.each([
    ['a cedilla', 'clinic', '\u0327bob'],
    ['a solidus', 'lab=', '\u0338bob'],
    ['a vowel of Hangul', 'lab\u1100', '\u1161bob'],
  ])(
    'is a complete prefix of a subject: one that begins with %s is refused',
    async (_what, prefix, subject) => {
      expect(await send(prefix, subject)).toMatchObject({ verdict: 'refused' });
      expect(
        await rowsOf(lab, 'SELECT id FROM transactions.transactions WHERE subject LIKE $1', [`%bob`]),
      ).toEqual([]);
    },
  );

  it('is put before every other subject', async () => {
    expect(await send('lab:', 'Ren\u0065\u0301e')).toMatchObject({ verdict: 'committed' });
    const [row] = await rowsOf(lab, 'SELECT subject FROM transactions.transactions WHERE subject LIKE $1', [
      'lab:%',
    ]);
    expect(row).toEqual({ subject: 'lab:Renée' });
  });
});

describe('a part with a text that is not stream-safe', () => {
  const marks = `a${'\u0301\u0316'.repeat(16)}`;
  it('is refused wherever the text stands', async () => {
    const letter = 'element/processing/processing.001/1.0';
    for (const changes of [
      { answers: { [letter]: [marks] } },
      { submission: { subject: marks } },
      { submission: { object: marks } },
      {
        submission: { language: `en-u-${'a'.repeat(8)}-${'b'.repeat(8)}-${'c'.repeat(8)}-${'d'.repeat(8)}` },
      },
    ])
      expect(await lab.one.acceptSubmission(await makePart(lab, changes))).toMatchObject({
        verdict: 'refused',
      });
  });
});
