import { createHmac } from 'node:crypto';
import { expect, test } from 'vitest';
import { scramVerifier } from '#lib/db/service-role.ts';

// The exchange that RFC 7677 §3 prints.
const authMessage =
  'n=user,r=rOprNGfwEbeRWgbNEkqO,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096,c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0';

test('what is kept of a password makes the signature that RFC 7677 prints', () => {
  const verifier = scramVerifier('pencil', Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64'));
  const [, head, serverKey] =
    /^(SCRAM-SHA-256\$4096:W22ZaJ0SNY7soEsUEjb6gQ==\$).{44}:(.{44})$/.exec(verifier) ?? [];
  expect(head).toBeDefined();
  const signature = createHmac('sha256', Buffer.from(serverKey as string, 'base64')).update(authMessage);
  expect(signature.digest('base64')).toBe('6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=');
});

test('the same password is kept differently each time', () => {
  expect(scramVerifier('pencil')).not.toBe(scramVerifier('pencil'));
});
