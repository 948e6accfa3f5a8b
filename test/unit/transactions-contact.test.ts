import { domainToASCII } from 'node:url';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mailboxOf, mailDomain } from '#lib/mail/mailbox.ts';
import {
  maskEmailAddress,
  maskPhoneNumber,
  parseEmailAddress,
  parsePhoneNumber,
  phonePrefix,
  readContact,
} from '../../services/transactions/transaction/contact.ts';
import { isFault } from '../../services/transactions/transaction/values.ts';

const readAddress = (value: unknown) => parseEmailAddress({ value, pointer: '/subjectInfos/emailAddress' });
const readNumber = (value: unknown) => parsePhoneNumber({ value, pointer: '/subjectInfos/phoneNumber' });

describe('an e-mail address', () => {
  it.each([
    ['ann@example.org', 'ann@example.org'],
    [' ann@example.org ', 'ann@example.org'],
    ["o'brien+news@mail.example.org", "o'brien+news@mail.example.org"],
    ['jürgen@example.org', 'jürgen@example.org'],
    ['ann@mu\u0308nchen.example', 'ann@münchen.example'],
    ['ann@例え.テスト', 'ann@例え.テスト'],
  ])('%j is read as %j', (given, read) => {
    expect(readAddress(given)).toBe(read);
  });

  it.each([
    '',
    'ann',
    'ann@',
    '@example.org',
    'ann@bob@example.org',
    'Ann <ann@example.org>',
    'ann@example.org, bob@example.org',
    'ann@example.org;bob@example.org',
    '"ann b"@example.org',
    'ann@[192.0.2.1]',
    'ann@192.0.2.1',
    'ann@example.org\r\nBcc: bob@example.org',
    'ann\u0000@example.org',
    'ann@example.org\u202e',
    '.ann@example.org',
    'ann..b@example.org',
    'ann@example..org',
    'ann@-example.org',
    'ann@example.org:25',
    'ann@example.org/path',
    'ann@example.org?size=1',
    'ann@example.org#top',
    'ann@example.org\\path',
    'ann@example%2eorg',
    `${'a'.repeat(65)}@example.org`,
    `${'ü'.repeat(33)}@example.org`,
    `ann@${'example.'.repeat(40)}org`,
  ])('is not %j', (given) => {
    expect(readAddress(given)).toMatchObject({ pointer: '/subjectInfos/emailAddress', code: 'invalid' });
  });

  it('never contains characters that begin a header, a command or another address', () => {
    const part = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.constantFrom(
        '@',
        '.',
        '\r\n',
        '<',
        '>',
        ',',
        ' ',
        '/',
        '?',
        '#',
        '%40',
        '\\',
        ':',
        'a',
        'é',
        '例',
        '。',
      ),
    );
    const given = fc.array(part, { maxLength: 8 }).map((parts) => parts.join(''));
    const nearly = fc.tuple(given, given).map(([local, domain]) => `a${local}@example${domain}.org`);
    fc.assert(
      fc.property(fc.oneof(given, nearly), (text) => {
        const address = readAddress(text);
        if (isFault(address)) return;
        expect(address).not.toMatch(/[\s\p{C}<>()[\],;:"\\]/u);
        expect(address.split('@')).toHaveLength(2);
        expect(mailDomain(address)).toMatch(/^[a-z\d.-]+$/);
        // What a mail server is given names the same domain as the address that was checked.
        expect(domainToASCII(mailDomain(address))).toBe(mailDomain(address));
        expect(address.split('@')[1]).not.toMatch(/[/?#%]/);
        expect(readAddress(address)).toBe(address);
      }),
      { numRuns: 2_000 },
    );
  });

  it('shows its first character and its domain when it is masked', () => {
    expect(maskEmailAddress('ann@example.org')).toBe('a…@example.org');
    expect(maskEmailAddress('👩‍🔬ann@example.org')).toBe('👩‍🔬…@example.org');
  });

  it('has its domain in ASCII and lower case', () => {
    expect(mailDomain('ann@MÜNCHEN.example')).toBe('xn--mnchen-3ya.example');
  });
});

describe('a telephone number', () => {
  it.each([
    '+33639980001',
    '+33 6 39 98 00 01',
    ' (+33) 6.39-98-00-01 ',
    '+33\u00a06\u202f39\u201198 00 01',
    '+33 (0)6 39 98 00 01',
  ])('%j is read in E.164', (given) => {
    expect(readNumber(given)).toBe('+33639980001');
  });

  it.each([
    '',
    '0639980001',
    '0033639980001',
    '+12',
    '+999123456789',
    '+33 6 39 98 00',
    '+33639980001;ext=5',
    'tel:+33639980001',
    '+33639980001,+33639980002',
    'Ann',
  ])('is not %j', (given) => {
    expect(readNumber(given)).toMatchObject({ pointer: '/subjectInfos/phoneNumber', code: 'invalid' });
  });

  it('always consists of a plus sign and digits', () => {
    const part = fc.oneof(
      fc.constantFrom(
        '+',
        '33',
        '6',
        '39980001',
        '1',
        '4155552671',
        ' ',
        '\r\n',
        '(',
        ')',
        '-',
        '.',
        ';',
        'x',
        '٣',
      ),
      fc.string({ unit: 'binary', maxLength: 3 }),
    );
    fc.assert(
      fc.property(fc.array(part, { maxLength: 10 }), (parts) => {
        const number = readNumber(`+33${parts.join('')}`);
        if (isFault(number)) return;
        expect(number).toMatch(/^\+[1-9]\d{5,14}$/);
        expect(phonePrefix(number)).toBe('33');
        expect(readNumber(number)).toBe(number);
      }),
      { numRuns: 2_000 },
    );
  });

  it('shows its last four digits when it is masked', () => {
    expect(maskPhoneNumber('+33639980001')).toBe('…0001');
  });
});

describe('a mailbox', () => {
  it.each([
    ['ann+1@example.org', 'ann+2+3@example.org'],
    ['Ann@example.org', 'aNN@EXAMPLE.org'],
    ['ａnn@example.org', 'ann@ｅxample。org'],
    ['zoe\u0308@example.org', 'zoë@example.org'],
    ['ann.bee@gmail.com', 'annbee+x@googlemail.com'],
  ])('of %s is that of %s', (one, other) => {
    expect(mailboxOf(readAddress(one) as string)).toBe(mailboxOf(readAddress(other) as string));
  });

  it.each([
    ['ann@example.org', 'anne@example.org'],
    ['ann.bee@example.org', 'annbee@example.org'],
    ['+a@example.org', '+b@example.org'],
    ['ann@a.example.org', 'ann@b.example.org'],
  ])('of %s is not that of %s', (one, other) => {
    expect(mailboxOf(readAddress(one) as string)).not.toBe(mailboxOf(readAddress(other) as string));
  });

  it('is the same for every sub-address in every spelling, and a mailbox is its own', () => {
    const local = fc.stringMatching(/^[a-z0-9ß\u00e9ǅ]{1,12}$/);
    const tag = fc.stringMatching(/^[A-Za-z0-9+_-]{0,12}$/);
    fc.assert(
      fc.property(local, tag, fc.constantFrom('NFC', 'NFD', 'NFKC'), (user, extension, form) => {
        const box = mailboxOf(readAddress(`${user}@example.org`) as string);
        expect(mailboxOf(readAddress(`${user.normalize(form)}+${extension}@Example.ORG`) as string)).toBe(
          box,
        );
        expect(mailboxOf(box)).toBe(box);
      }),
    );
  });
});

describe('contact data for the owner of a part', () => {
  it('are a valid address and a valid number, and nothing else', () => {
    const given = { emailAddress: ' ann@example.org ', phoneNumber: '+33 6 39 98 00 01', born: '1970-01-01' };
    expect(readContact(given)).toEqual({ emailAddress: 'ann@example.org', phoneNumber: '+33639980001' });
    expect(readContact({ ...given, emailAddress: 'ann' })).toEqual({ phoneNumber: '+33639980001' });
  });

  it('are none if no text is valid, of any length', () => {
    expect(readContact(undefined)).toBeUndefined();
    expect(readContact({ emailAddress: '', phoneNumber: '110' })).toBeUndefined();
    for (const hostile of [
      '\0',
      '\ud800',
      `a${'\u0301\u0316'.repeat(400_000)}`,
      `${'a'.repeat(2e6)}@example.org`,
    ])
      expect(readContact({ emailAddress: hostile, phoneNumber: hostile })).toBeUndefined();
  });
});
