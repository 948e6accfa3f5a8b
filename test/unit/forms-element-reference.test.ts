import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  canonicalReference,
  formatIdentifier,
  formatReference,
  parseIdentifier,
  parseReference,
} from '../../services/forms/domain/identifiers.ts';

const key = fc.stringMatching(/^[0-9A-Za-z_-][0-9A-Za-z_.-]{1,40}$/);
const host = fc
  .tuple(fc.domain(), fc.option(fc.integer({ min: 1, max: 65_535 })))
  .map(([name, port]) => (port === null ? name : `${name}:${port}`));

it.each([
  ['study', { key: 'study', host: null }],
  ['study@lab.example', { key: 'study', host: 'lab.example' }],
  ['study@LAB.Example:8443', { key: 'study', host: 'lab.example:8443' }],
  ['study@lab.example:443', { key: 'study', host: 'lab.example' }],
  ['study@bücher.example', { key: 'study', host: 'xn--bcher-kva.example' }],
  ['study@127.1:8080', { key: 'study', host: '127.0.0.1:8080' }],
  ['study@[::1]:8080', { key: 'study', host: '[::1]:8080' }],
])('parses the reference %s', (text, reference) => {
  expect(parseReference(text)).toEqual(reference);
});

it.each([
  ...['', 's', '@', 'study@', '@lab.example', 'study@lab@lab', 'study@lab/x', 'study@lab?x', 'study@lab#x'],
  ...[
    'study@me:secret@lab',
    'study@lab:99999',
    'study@la b',
    'study@lab\\x',
    'study@\n',
    '__proto__@lab',
    '..@lab',
  ],
])('rejects the reference %j', (text) => {
  expect(parseReference(text)).toBeUndefined();
  expect(canonicalReference(text)).toBe(text);
});

it('normalises a reference idempotently without changing its meaning', () => {
  fc.assert(
    fc.property(key, host, (name, place) => {
      const text = canonicalReference(`${name}@${place}`);
      const reference = parseReference(text);
      expect(canonicalReference(text)).toBe(text);
      expect(reference && formatReference(reference)).toBe(text);
      expect(canonicalReference(`${name}@${place.toUpperCase()}`)).toBe(text);
    }),
  );
});

it('parses the identifier of a peer’s element into its parts', () => {
  fc.assert(
    fc.property(key, host, (name, place) => {
      const text = canonicalReference(`${name}@${place}`);
      const identifier = formatIdentifier('processing', text, '1.0');
      expect(parseIdentifier(identifier)).toEqual({ type: 'processing', key: text, serial: '1.0' });
    }),
  );
});
