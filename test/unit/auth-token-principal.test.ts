import { describe, expect, it } from 'vitest';
import { withImpliedRoles } from '../../services/auth/domain/accounts.ts';
import { tokenPrincipal } from '../../services/auth/domain/token-principal.ts';

const own = { roles: 'roles', subject: 'preferred_username' };

describe('what a token says of who speaks', () => {
  it('brings the roles that a role implies', () => {
    expect(withImpliedRoles(['admin'])).toEqual(['admin', 'operator', 'user']);
    expect(withImpliedRoles(['operator'])).toEqual(['operator', 'user']);
    expect(withImpliedRoles(['user', 'operator'])).toEqual(['user', 'operator']);
  });

  it('gives no role that cannot be given', () => {
    const roles = ['key', 'transaction', 'anonymous', 'ADMIN', '__proto__', 'toString', 7, null];
    expect(tokenPrincipal({ sub: 's', roles }, own).roles).toEqual([]);
  });

  it.each([
    ['a list', { roles: ['operator'] }, 'roles'],
    ['names in one text', { scope: 'openid operator' }, 'scope'],
    ['a dotted path', { realm_access: { roles: ['operator', 'offline'] } }, 'realm_access.roles'],
    [
      'a claim whose name has dots',
      { 'https://example.org/roles': ['operator'] },
      'https://example.org/roles',
    ],
  ])('finds roles in %s', (_name, claims, path) => {
    expect(tokenPrincipal({ sub: 's', ...claims }, { ...own, roles: path }).roles).toContain('operator');
  });

  it.each([
    ['a number', { roles: 7 }],
    ['nothing', {}],
    ['a path through a text', { roles: 'x' }],
  ])('finds no roles in %s', (_name, claims) => {
    expect(tokenPrincipal({ sub: 's', ...claims }, { ...own, roles: 'roles.length' }).roles).toEqual([]);
  });

  it.each(['a\0b', '\ud800'])('names no subject in %j, which cannot be stored', (claim) => {
    expect(tokenPrincipal({ sub: 's', preferred_username: claim }, own)).toEqual(
      tokenPrincipal({ sub: 's' }, own),
    );
  });

  it('names the subject as subjects are compared: NFC, trimmed', () => {
    const claims = { sub: 's', preferred_username: ' Zoe\u0301 ' };
    expect(tokenPrincipal(claims, own)).toMatchObject({ subject: 'Zoé', name: 'Zoé', account: 'user:s' });
  });

  it.each([undefined, '', '  ', 7, 'x'.repeat(1_025), '\ud800'])(
    'has no subject %j',
    (preferred_username) => {
      expect(tokenPrincipal({ sub: 's', preferred_username }, own)).toMatchObject({
        subject: undefined,
        name: 's',
      });
    },
  );
});
