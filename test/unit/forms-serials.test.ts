import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  formatSerial,
  nextSerial,
  parseSerial,
  type Serial,
} from '../../services/forms/domain/identifiers.ts';
import type { VersionStatus } from '../../services/forms/domain/model.ts';
import { mayMove } from '../../services/forms/domain/model.ts';

const kind = fc.constantFrom('MAJOR' as const, 'MINOR' as const);

describe('serials', () => {
  it('start at 1.0 and always increase', () => {
    fc.assert(
      fc.property(fc.array(kind, { minLength: 1, maxLength: 60 }), (kinds) => {
        let last: Serial = { major: 0, minor: 0 };
        const given = kinds.map((each) => {
          const before = last;
          last = nextSerial(last, each);
          const grown =
            last.major > before.major || (last.major === before.major && last.minor > before.minor);
          expect(grown).toBe(true);
          if (each === 'MAJOR') expect(last).toEqual({ major: before.major + 1, minor: 0 });
          return formatSerial(last);
        });
        expect(given[0]).toBe('1.0');
        expect(new Set(given).size).toBe(given.length);
      }),
    );
  });

  it('are parsed as they are formatted', () => {
    const serial = fc.record({ major: fc.integer({ min: 1, max: 999_999_999 }), minor: fc.nat(999_999_999) });
    fc.assert(
      fc.property(serial, (each) => {
        expect(parseSerial(formatSerial(each))).toEqual(each);
      }),
    );
  });

  it.each(['', '1', '0.1', '01.0', '1.00', '1.0.0', '1.-1', '1.0 ', '9999999999.0', 'x.y', '1,0'])(
    'are not %j',
    (text) => expect(parseSerial(text)).toBeUndefined(),
  );
});

describe('the status of a version', () => {
  it('only changes from DRAFT to ACTIVE to ARCHIVED', () => {
    const statuses: VersionStatus[] = ['DRAFT', 'ACTIVE', 'ARCHIVED'];
    const moves = statuses.flatMap((from) =>
      statuses.filter((to) => mayMove(from, to)).map((to) => `${from} ${to}`),
    );
    expect(moves).toEqual(['DRAFT ACTIVE', 'ACTIVE ARCHIVED']);
  });
});
