import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '#lib/db/sql.ts';
import { defaultRateLimits } from '#lib/http/rate-limits.ts';
import { addAccount } from '../../services/auth/commands/accounts.ts';
import { addClient } from '../../services/auth/commands/clients.ts';
import { createKeyedHash } from '../../services/auth/domain/api-keys.ts';
import { type AccountCaller, callerWithToken, goodPassword } from '../support/instances/account-callers.ts';
import { type AuthUnderTest, startAuth } from '../support/instances/auth-service.ts';

const another = 'another long phrase';

let under: AuthUnderTest;
let jane: AccountCaller;
beforeEach(async () => {
  under = await startAuth();
  await addAccount(under.db, { name: 'jane', role: 'user', password: goodPassword });
  jane = callerWithToken(under, await under.tokenOf('jane', goodPassword));
});
afterEach(() => under.stop());

const change = (current: string, password: string, caller = jane) =>
  caller.send('PUT', '/user/password', { current, password });
const signIn = async (password: string) => {
  const fields = { grant_type: 'password', client_id: 'cmclient', username: 'jane', password };
  return (await under.askToken(fields)).status;
};
const wrongTimes = async (times: number) => {
  const statuses: number[] = [];
  for (let tried = 0; tried < times; tried += 1)
    statuses.push((await change('a wrong phrase', another)).status);
  return statuses;
};

describe('changing one’s own password', () => {
  it('replaces it, and ends all sessions and links of the account', async () => {
    const admin = callerWithToken(under, await under.tokenOf('admin'));
    const { id } = (await admin.list()).get('jane') as { id: string };
    const { link } = (await (await admin.send('POST', `/accounts/${id}/link`)).json()) as { link: string };
    for (const model of ['RefreshToken', 'Grant', 'Session', 'AuthorizationCode'])
      await under.db.query(sql`
        INSERT INTO issuer_items (model, id, payload, expires_at)
        VALUES (${model}, ${model}, ${{ accountId: id }}, now() + interval '1 hour')`);
    await under.db.query(sql`
      INSERT INTO issuer_items (model, id, payload, expires_at)
      VALUES ('Interaction', 'i', ${{ result: { login: { accountId: id } } }}, now() + interval '1 hour')`);
    expect((await change(goodPassword, another)).status).toBe(204);
    expect([await signIn(goodPassword), await signIn(another)]).toEqual([400, 200]);
    const { left } = await under.db.one<{ left: number }>(
      sql`SELECT count(*)::int AS left FROM issuer_items`,
    );
    expect(left).toBe(0);
    expect((await fetch(link)).status).toBe(410);
  });

  it('needs the current password and a good new one, and says which is not', async () => {
    const faults: [current: string, password: string, pointer: string][] = [
      ['a wrong phrase', another, '/current'],
      [goodPassword, 'eleven char', '/password'],
      [goodPassword, 'x'.repeat(257), '/password'],
    ];
    for (const [current, password, pointer] of faults) {
      const answer = await change(current, password);
      expect(await answer.json()).toMatchObject({ status: 422, errors: [{ pointer }] });
    }
    expect(await signIn(goodPassword)).toBe(200);
    expect(under.logged()).not.toContain('a wrong phrase');
  });

  it('is rejected after ten wrong passwords, even with the right one, and so is signing in', async () => {
    expect(await wrongTimes(10)).toEqual(Array(10).fill(422));
    const answer = await change(goodPassword, another);
    expect(answer.status).toBe(429);
    expect(answer.headers.get('retry-after')).toBe('300');
    expect(await signIn(goodPassword)).toBe(400);
    await under.db.query(sql`UPDATE sign_in_tries SET since = since - interval '5 minutes 1 second'`);
    expect((await change(goodPassword, another)).status).toBe(204);
  });

  it('is limited by address, as all failed credentials are', async () => {
    await under.restart({ limits: { ...defaultRateLimits, address: 3 } });
    expect(await wrongTimes(4)).toEqual([422, 422, 422, 429]);
  });

  it('succeeds once when it is asked twice at once', async () => {
    const answers = await Promise.all([change(goodPassword, another), change(goodPassword, `${another}!`)]);
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 422]);
  });

  it('is not available to accounts of the demonstration, nor to programs', async () => {
    const keyedHash = createKeyedHash(under.secrets.keyPepper);
    const printed = await addClient(under.db, keyedHash, {
      id: 'robot',
      role: 'operator',
      redirectUris: [],
      isPublic: false,
    });
    const secret = printed.split('\n').at(-1) ?? '';
    const Authorization = `Basic ${Buffer.from(`robot:${secret}`).toString('base64')}`;
    const made = await under.askToken({ grant_type: 'client_credentials' }, '/auth', { Authorization });
    const { access_token: robot } = (await made.json()) as { access_token: string };
    for (const token of [robot, await under.tokenOf('operator')]) {
      const answer = await change('demo', another, callerWithToken(under, token));
      expect(await answer.json()).toMatchObject({
        status: 422,
        type: expect.stringMatching(/not-available$/),
      });
    }
  });
});
