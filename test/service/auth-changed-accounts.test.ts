import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { addAccount, changePassword } from '../../services/auth/commands/accounts.ts';
import { addClient, removeClient } from '../../services/auth/commands/clients.ts';
import { createKeyedHash } from '../../services/auth/domain/api-keys.ts';
import {
  type AccountCaller,
  callerWithToken,
  goodPassword,
  type ShownAccount,
} from '../support/instances/account-callers.ts';
import { type AuthUnderTest, startAuth } from '../support/instances/auth-service.ts';

let under: AuthUnderTest;
let root: AccountCaller;
beforeAll(async () => {
  under = await startAuth({ settings: { demo: false } });
  await addAccount(under.db, { name: 'root', role: 'admin', password: goodPassword });
  root = callerWithToken(under, await under.tokenOf('root', goodPassword));
});
afterAll(() => under.stop());

/** A second administrator with a token from before the change. */
async function secondAdmin(name: string) {
  await addAccount(under.db, { name, role: 'admin', password: goodPassword });
  const { id } = (await root.list()).get(name) as ShownAccount;
  return { id, caller: callerWithToken(under, await under.tokenOf(name, goodPassword)) };
}
const lastingActs = async (caller: AccountCaller) => {
  const responses = [
    await caller.send('POST', '/accounts', { name: `by-${crypto.randomUUID()}`, role: 'admin' }),
    await caller.send('POST', '/keys', { name: 'shop', scope: 'OWNER' }),
  ];
  return responses.map(({ status }) => status);
};

describe('an access token from before a change of its account', () => {
  const changes: [string, (id: string, name: string) => Promise<unknown>][] = [
    ['disabled', (id) => root.send('PUT', `/accounts/${id}`, { disabled: true })],
    ['made an operator', (id) => root.send('PUT', `/accounts/${id}`, { role: 'operator' })],
    ['deleted', (id) => root.send('DELETE', `/accounts/${id}`)],
    ['given another password', (_, name) => changePassword(under.db, { name, password: `${goodPassword}!` })],
  ];
  it.each(changes)('has no lasting effect once the account was %s', async (change, apply) => {
    const name = `second ${change}`;
    const { id, caller } = await secondAdmin(name);
    expect(await lastingActs(caller)).toEqual([201, 201]);
    await apply(id, name);
    expect(await lastingActs(caller)).toEqual([401, 401]);
    const refused = await caller.send('POST', '/keys', { name: 'shop', scope: 'OWNER' });
    expect(await refused.json()).toMatchObject({
      detail: 'The account has changed since this access token was issued. Sign in again.',
    });
  });

  it('acts again after a new sign-in, if the account still may', async () => {
    const { id } = await secondAdmin('returned');
    await root.send('PUT', `/accounts/${id}`, { disabled: true });
    await root.send('PUT', `/accounts/${id}`, { disabled: false });
    const token = await under.tokenOf('returned', goodPassword);
    expect(await lastingActs(callerWithToken(under, token))).toEqual([201, 201]);
  });
});

it('a removed client does not act with the token that it still has', async () => {
  const keyedHash = createKeyedHash(under.secrets.keyPepper);
  const input = { id: 'robot', role: 'admin' as const, redirectUris: [], isPublic: false };
  const secret = (await addClient(under.db, keyedHash, input)).split('\n')[1] ?? '';
  const asked = await under.askToken({ grant_type: 'client_credentials' }, '/auth', {
    Authorization: `Basic ${Buffer.from(`robot:${secret}`).toString('base64')}`,
  });
  const { access_token: token } = (await asked.json()) as { access_token: string };
  const robot = callerWithToken(under, token);
  expect(await lastingActs(robot)).toEqual([201, 201]);
  await removeClient(under.db, 'robot');
  expect(await lastingActs(robot)).toEqual([401, 401]);
});
