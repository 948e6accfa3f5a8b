import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { kindOf } from '#lib/moving/bring-models.ts';
import { formatSerial, nextSerial } from '../../services/forms/domain/identifiers.ts';

describe('the kind with which a version is brought', () => {
  it('gives it the serial that it had, whatever was activated before', () => {
    const kinds = fc.array(fc.constantFrom('MAJOR' as const, 'MINOR' as const), { maxLength: 30 });
    fc.assert(
      fc.property(kinds, (activated) => {
        let last = { major: 0, minor: 0 };
        for (const kind of activated) {
          const serial = nextSerial(last, kind);
          const brought = kindOf(formatSerial(last), formatSerial(serial));
          expect(brought && nextSerial(last, brought)).toEqual(serial);
          last = serial;
        }
      }),
    );
  });

  it('is none for a serial that cannot follow', () => {
    for (const serial of ['3.0', '2.1', '1.2', '1.0', '0.1'])
      expect(kindOf('1.0', serial), serial).toBeUndefined();
  });
});
