import { describe, expect, it } from 'vitest';
import type { AnswerAt, DecisionFacts } from '../../services/transactions/decisions/decision.ts';
import { decideElement, decidePurpose } from '../../services/transactions/decisions/decision.ts';

const asOf = new Date('2026-05-03T10:00:00Z');
const version = { type: 'processing', major: 1, owner: null, isObjection: false };
const answer: AnswerAt = {
  record: '0190a6f0-3c6b-7c9e-8a55-0d5c2b1f4e21',
  serial: '1.0',
  infoKey: 'information.001',
  infoSerial: '2.3',
  refused: false,
  withdraws: false,
  ofPeer: false,
  isImported: false,
  given: new Date('2026-03-14T09:27:11Z'),
  expires: new Date('2026-09-14T09:27:11Z'),
};
const information = { type: 'information', major: 2, owner: null, isObjection: false };
const facts: DecisionFacts = {
  element: 'processing.001',
  object: '',
  version,
  restricted: false,
  answer,
  information,
  asOf,
  position: 48,
  isCollectedAlone: false,
};
const reasonOf = (change: Partial<DecisionFacts>) => decideElement({ ...facts, ...change }).reason;
const answered = (change: Partial<AnswerAt>) => ({ answer: { ...answer, ...change } });

describe('a decision about an element', () => {
  it('is GIVEN for an accepted answer that is in force, and says by which record', () => {
    expect(decideElement(facts)).toEqual({
      allowed: true,
      reason: 'GIVEN',
      element: 'processing.001',
      record: answer.record,
      serial: '1.0',
      given: '2026-03-14T09:27:11.000Z',
      expires: '2026-09-14T09:27:11.000Z',
      evidence: 'COLLECTED',
      asOf: '2026-05-03T10:00:00.000Z',
      position: 48,
    });
  });

  it.each([
    ['nothing has the key', 'UNKNOWN', { version: undefined }],
    ['the key is a preference', 'UNKNOWN', { version: { ...version, type: 'preference' } }],
    [
      'a peer owns the element',
      'NOT_OURS',
      { version: { ...version, owner: 'https://lab.example.org', isObjection: false } },
    ],
    ['a hold restricts the use', 'RESTRICTED', { restricted: true, answer: undefined }],
    ['nobody has answered', 'NO_ANSWER', { answer: undefined }],
    [
      'the answer was taken over, and only collected ones count',
      'NOT_PROVEN',
      { ...answered({ isImported: true }), isCollectedAlone: true },
    ],
    ['the answer is a refusal', 'REFUSED', answered({ refused: true })],
    ['a refusal follows an acceptance', 'WITHDRAWN', answered({ refused: true, withdraws: true })],
    ['an expired refusal is still one', 'REFUSED', answered({ refused: true, expires: asOf })],
    ['the answer expires at this moment', 'EXPIRED', answered({ expires: asOf })],
    ['the element has no ACTIVE version', 'NOT_ACTIVE', { version: { ...version, major: null } }],
    ['the information has another MAJOR', 'NOTICE_CHANGED', { information: { ...information, major: 3 } }],
    ['the information is gone', 'NOTICE_CHANGED', { information: undefined }],
    ['the element has another MAJOR', 'CHANGED', { version: { ...version, major: 2 } }],
  ])('if %s: %s, and not allowed', (_, reason, change) => {
    expect(decideElement({ ...facts, ...change })).toMatchObject({ allowed: false, reason });
  });

  it('is GIVEN for an answer that never expires, and for a MINOR that was answered', () => {
    expect(reasonOf(answered({ expires: null, serial: '1.7' }))).toBe('GIVEN');
  });

  it('names the peer that owns the element, and answers that came from a form of a peer', () => {
    const owner = 'https://lab.example.org';
    expect(decideElement({ ...facts, version: { ...version, owner } })).toMatchObject({ owner });
    expect(decideElement({ ...facts, ...answered({ ofPeer: true }) })).toMatchObject({ evidence: 'PEER' });
  });
});

describe('a decision about a purpose', () => {
  const given = decideElement(facts);
  const missing = decideElement({ ...facts, answer: undefined });
  const decided = (decisions: (typeof given)[]) =>
    decidePurpose('CONSENT_MARKETING', { object: '', decisions, asOf });

  it('is allowed if every element with it is', () => {
    expect(decided([given, given])).toMatchObject({ allowed: true, reason: 'GIVEN' });
  });

  it('has the reason of the first element that is not allowed', () => {
    expect(decided([given, missing])).toMatchObject({ allowed: false, reason: 'NO_ANSWER' });
  });

  it('is UNKNOWN if no element has it', () => {
    expect(decided([])).toMatchObject({ allowed: false, reason: 'UNKNOWN', decisions: [] });
  });
});
