import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type SentPart, sentAnswers } from '../../services/transactions/choices/sent-answers.ts';

const shown = {
  information: { identifier: 'element/information/info.001@lab/1.0', lang: 'en', texts: {}, sha256: '' },
  elements: [{ identifier: 'element/processing/sleep.001@lab/1.0', lang: 'en', texts: {}, sha256: '' }],
} as SentPart['shown'];
const part = (more: Partial<SentPart>): SentPart => ({
  sid: 'a'.repeat(22),
  isConfirmed: false,
  location: 'https://lab.example',
  name: 'Lab',
  state: 'ACCEPTED',
  reason: null,
  shown,
  withdrawal: null,
  transaction: 'a',
  givenAt: new Date('2026-05-03T08:00:00Z'),
  isErasable: true,
  erasure: null,
  ...more,
});
const withdrawal = { state: 'QUEUED', since: '2026-05-04T08:00:00Z' } as const;

const anyPart = fc
  .record({
    location: fc.constantFrom('https://lab.example', 'https://sleep.example'),
    transaction: fc.constantFrom('a', 'b', 'c'),
    state: fc.constantFrom<SentPart['state']>('WAITING', 'SENDING', 'HELD', 'ACCEPTED', 'REFUSED', 'DROPPED'),
    reason: fc.constantFrom(null, 'expired', 'unsent'),
    withdrawal: fc.constantFrom(null, withdrawal),
  })
  .map(part);

describe('the answers of a person at peers', () => {
  it('are one block for each peer that may keep some, and withdrawn only if nothing else is left', () => {
    fc.assert(
      fc.property(fc.array(anyPart), (parts) => {
        const kept = parts.filter(
          ({ state, reason }) => state !== 'REFUSED' && (state !== 'DROPPED' || reason === 'expired'),
        );
        const blocks = sentAnswers(parts);
        expect(blocks.map(({ location }) => location).sort()).toEqual(
          [...new Set(kept.map(({ location }) => location))].sort(),
        );
        for (const { location, state, isWithdrawable } of blocks) {
          const its = kept.filter((each) => each.location === location);
          expect(state === 'WITHDRAWN').toBe(its.every((each) => each.withdrawal !== null));
          if (state === 'WITHDRAWN') expect(isWithdrawable).toBe(false);
        }
      }),
    );
  });

  it('say when the last form was answered, under the name that was seen there', () => {
    const later = new Date('2026-06-03T08:00:00Z');
    expect(
      sentAnswers([part({}), part({ transaction: 'b', givenAt: later, name: 'New Lab', state: 'SENDING' })]),
    ).toEqual([
      {
        name: 'New Lab',
        sid: 'a'.repeat(22),
        location: 'https://lab.example',
        forms: 2,
        last: later,
        state: 'RECEIVED',
        isWithdrawable: true,
        notice: null,
        isErasable: true,
        erasure: null,
      },
    ]);
  });

  it('are erased there if nothing can be asked about, and the most urgent request counts', () => {
    const since = '2026-05-05T08:00:00Z';
    const asked = (state: 'DELIVERED' | 'ACKNOWLEDGED', outcome: string | null = null) =>
      part({ isErasable: false, erasure: { state, outcome, since } });
    const done = asked('ACKNOWLEDGED', 'done');
    const shownOf = (...parts: SentPart[]) => {
      const [block] = sentAnswers(parts);
      return [block?.erasure?.state, block?.erasure?.outcome, block?.isErasable, block?.isWithdrawable];
    };
    expect(shownOf(done)).toEqual(['ACKNOWLEDGED', 'done', false, false]);
    expect(shownOf(done, asked('ACKNOWLEDGED', 'kept'))).toEqual(['ACKNOWLEDGED', 'kept', false, true]);
    expect(shownOf(done, asked('DELIVERED'))).toEqual(['DELIVERED', null, false, true]);
    expect(shownOf(done, part({}))).toEqual(['ACKNOWLEDGED', 'done', true, true]);
  });

  it('are found at the peer by the newest part that has arrived, rather by one whose address was confirmed', () => {
    const later = new Date('2026-06-03T08:00:00Z');
    const sid = (letter: string) => letter.repeat(22);
    const opener = (...parts: SentPart[]) => sentAnswers(parts)[0]?.sid;
    const old = part({ sid: sid('a'), isConfirmed: true });
    const newer = part({ sid: sid('b'), givenAt: later });
    expect(opener(old, newer)).toBe(sid('a'));
    expect(opener(part({ sid: sid('c') }), newer)).toBe(sid('b'));
    const onItsWay = part({ sid: sid('d'), isConfirmed: true, givenAt: later, state: 'SENDING' });
    expect(opener(part({ sid: sid('c') }), onItsWay)).toBe(sid('c'));
    expect(opener(onItsWay)).toBe(sid('d'));
  });
});
