import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { recordStatus, type StatusFacts } from '#lib/contracts/record-status.ts';

const now = new Date('2026-06-01T00:00:00Z');
const record: StatusFacts = {
  state: 'COMMITTED',
  key: 'processing.001',
  serial: '2.3',
  infoKey: 'information.001',
  infoSerial: '1.0',
  expiresAt: new Date('2026-12-01T00:00:00Z'),
  isInForce: true,
};
const active = {
  'processing.001': { major: 2, serial: '2.5', deleted: false },
  'information.001': { major: 1, serial: '1.4', deleted: false },
};
const statusOf = (facts: Partial<StatusFacts>, changes: object = {}) =>
  recordStatus({ ...record, ...facts }, { ...active, ...changes }, now);

describe('the status of a record', () => {
  it('is valid while it is the isInForce of the active MAJOR and not expired, whatever the MINOR', () => {
    expect(statusOf({})).toEqual(['VALID', 'LATEST_VALID']);
  });
  it('is obsolete once a newer one exists', () => {
    expect(statusOf({ isInForce: false })).toEqual(['OBSOLETE', 'OBSOLETE']);
  });
  it('is expired from its expiry on, before anything about versions is asked', () => {
    expect(statusOf({ expiresAt: now, serial: '1.0' })).toEqual(['EXPIRED', 'EXPIRED']);
  });
  it('never expires without an expiry, as conditions do not', () => {
    expect(statusOf({ expiresAt: null })).toEqual(['VALID', 'LATEST_VALID']);
  });
  it('is irrelevant after a new MAJOR of the information or of the element', () => {
    expect(statusOf({ infoSerial: '2.0' })).toEqual(['IRRELEVANT', 'INFO_SERIAL_ARCHIVED']);
    expect(statusOf({ serial: '1.9' })).toEqual(['IRRELEVANT', 'BODY_SERIAL_ARCHIVED']);
  });
  it('is irrelevant when nothing of the entry is active', () => {
    expect(statusOf({}, { 'processing.001': { major: null, serial: null, deleted: false } })).toEqual([
      'IRRELEVANT',
      'BODY_SERIAL_ARCHIVED',
    ]);
    expect(statusOf({}, { 'information.001': undefined })).toEqual(['IRRELEVANT', 'INFO_SERIAL_ARCHIVED']);
  });
  it('is irrelevant before it is committed, and after its entry was deleted', () => {
    expect(statusOf({ state: 'PENDING' })).toEqual(['IRRELEVANT', 'STILL_PENDING']);
    expect(statusOf({ state: 'ROLLED_BACK' })).toEqual(['IRRELEVANT', 'ROLLED_BACK']);
    expect(statusOf({}, { 'processing.001': { major: null, serial: null, deleted: true } })).toEqual([
      'IRRELEVANT',
      'ENTRY_DELETED',
    ]);
  });
  it('is valid only if every condition of validity holds', () => {
    const serial = fc.tuple(fc.nat(3), fc.nat(3)).map(([major, minor]) => `${major}.${minor}`);
    fc.assert(
      fc.property(
        fc.record({
          state: fc.constantFrom('PENDING', 'COMMITTED', 'ROLLED_BACK'),
          serial,
          infoSerial: serial,
          isInForce: fc.boolean(),
          expiresAt: fc.option(
            fc.date({ min: new Date('2026-01-01'), max: new Date('2027-01-01'), noInvalidDate: true }),
          ),
        }),
        (facts) => {
          const [status] = statusOf(facts as StatusFacts);
          const valid =
            facts.state === 'COMMITTED' &&
            facts.isInForce &&
            facts.serial.startsWith('2.') &&
            facts.infoSerial.startsWith('1.') &&
            (facts.expiresAt === null || facts.expiresAt > now);
          expect(status === 'VALID').toBe(valid);
        },
      ),
    );
  });
});
