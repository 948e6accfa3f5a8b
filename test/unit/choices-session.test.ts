import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { maskName } from '../../services/transactions/choices/choice.ts';
import { createChoicesTokens, isFresh, sessionExpiry } from '../../services/transactions/choices/session.ts';

const minute = 60_000;
const startedAt = new Date('2026-05-03T08:00:00Z');
const at = (minutes: number) => new Date(startedAt.getTime() + minutes * minute);

describe('a session of choices', () => {
  it('ends half an hour after its last page and four hours after it has begun, whatever is opened', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 45 }), { maxLength: 40 }), (waits) => {
        let now = 0;
        let ends = sessionExpiry({ startedAt }, at(0)).getTime();
        for (const wait of waits) {
          now += wait;
          if (at(now).getTime() >= ends) break;
          ends = sessionExpiry({ startedAt }, at(now)).getTime();
          expect(ends).toBe(Math.min(at(now + 30).getTime(), at(240).getTime()));
        }
        expect(ends).toBeLessThanOrEqual(at(240).getTime());
      }),
    );
  });

  it('shows everything at once for a quarter of an hour', () => {
    expect([0, 15, 16].map((minutes) => isFresh({ startedAt }, at(minutes)))).toEqual([true, true, false]);
  });

  it('is read from its token alone, with every secret, and of this instance alone', async () => {
    const [old, current] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
    const url = 'https://consent.example.org';
    const session = { person: 'a', epoch: 1, startedAt, frame: { language: 'fr' } };
    const token = createChoicesTokens([old], url).mintSession(session, at(30));
    const tokens = createChoicesTokens([current, old], url);
    expect(await tokens.read(token)).toEqual({ use: 'choices', ...session, expiresAt: at(30) });
    expect(await createChoicesTokens([current], url).read(token)).toBeUndefined();
    expect(await createChoicesTokens([old], 'https://other.example').read(token)).toBeUndefined();
    const link = tokens.mintLink({ id: 'link', expiresAt: at(30) });
    expect(await tokens.read(link)).toEqual({ use: 'choices-link', id: 'link', expiresAt: at(30) });
    await fc.assert(
      fc.asyncProperty(fc.string(), async (text) => {
        expect(await tokens.read(text)).toBeUndefined();
      }),
    );
  });
});

describe('the name of a person in a mail to one of several', () => {
  it('is never told whole, unless it is a single letter', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', minLength: 2, maxLength: 60 }), (name) => {
        expect(maskName(name)).not.toContain(name);
      }),
    );
    expect(maskName('ann.example@example.org')).toBe('a…@example.org');
    expect(maskName('patient 4711')).toBe('p…11');
  });
});
