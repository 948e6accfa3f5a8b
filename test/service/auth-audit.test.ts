import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sql } from '#lib/db/sql.ts';
import { addAccount, changePassword } from '../../services/auth/commands/accounts.ts';
import { addClient, removeClient } from '../../services/auth/commands/clients.ts';
import { createKeyedHash } from '../../services/auth/domain/api-keys.ts';
import {
  type AccountCaller,
  callerWithToken,
  choosePassword,
  goodPassword,
} from '../support/instances/account-callers.ts';
import { readAudit, type ShownLine, sentencesOf } from '../support/instances/audit-reader.ts';
import { type AuthUnderTest, startAuth } from '../support/instances/auth-service.ts';

let under: AuthUnderTest;
let root: AccountCaller;
let rootId: string;
beforeAll(async () => {
  under = await startAuth({ settings: { demo: false } });
  await addAccount(under.db, { name: 'root', role: 'admin', password: goodPassword });
  root = callerWithToken(under, await under.tokenOf('root', goodPassword));
  rootId = (await root.list()).get('root')?.id ?? '';
});
afterAll(() => under.stop());

let seen: string[] = [];
beforeEach(async () => {
  seen = (await readLog()).map(({ id }) => id);
});

const readLog = async (query = '?limit=200') =>
  (await readAudit((path) => root.send('GET', path), 'auth', query)).values;
/** Lines since the test began. */
const newLines = async () => (await readLog()).filter(({ id }) => !seen.includes(id));
const makeKey = (caller = root) => caller.send('POST', '/keys', { name: 'The shop', scope: 'OWNER' });

describe('the audit log of auth', () => {
  it('tells which keys were created and revoked, by whom, in which request', async () => {
    const made = await makeKey();
    const { id } = (await made.json()) as { id: string };
    await root.send('DELETE', `/keys/${id}`);
    const lines = await newLines();
    expect(sentencesOf(lines)).toEqual([
      `account ${rootId}: key.created key/${id}`,
      `account ${rootId}: key.revoked key/${id}`,
    ]);
    const created = lines.at(-1) as ShownLine;
    expect(created.request).toBe(made.headers.get('x-request-id'));
    expect(Math.abs(Date.parse(created.at) - Date.now())).toBeLessThan(60_000);
  });

  it('tells every change of an account, one line for each', async () => {
    const { id, link } = await root.invite('jane');
    const path = `/accounts/${id}`;
    await choosePassword(link);
    const jane = callerWithToken(under, await under.tokenOf('jane', goodPassword));
    await jane.send('PUT', '/user/password', { current: goodPassword, password: 'another long phrase' });
    await root.send('POST', `${path}/link`);
    await root.send('PUT', path, { role: 'user', disabled: true });
    await root.send('PUT', path, { disabled: true });
    await root.send('PUT', path, { disabled: false });
    await root.send('DELETE', path);
    expect(sentencesOf(await newLines())).toEqual([
      `account ${rootId}: account.created account/${id}`,
      `account ${id}: password.changed account/${id}`,
      `account ${id}: password.changed account/${id}`,
      `account ${rootId}: link.created account/${id}`,
      `account ${rootId}: account.updated account/${id}`,
      `account ${rootId}: account.disabled account/${id}`,
      `account ${rootId}: account.enabled account/${id}`,
      `account ${rootId}: account.deleted account/${id}`,
    ]);
  });

  it('tells what operators do with commands, outside of requests', async () => {
    const keyedHash = createKeyedHash(under.secrets.keyPepper);
    await addAccount(under.db, { name: 'mia', role: 'user', password: goodPassword });
    const id = (await root.list()).get('mia')?.id;
    await changePassword(under.db, { name: 'mia', password: 'another long phrase' });
    await addClient(under.db, keyedHash, { id: 'shop', role: 'user', redirectUris: [], isPublic: false });
    await removeClient(under.db, 'shop');
    const lines = await newLines();
    expect(sentencesOf(lines)).toEqual([
      `system command-line: account.created account/${id}`,
      `system command-line: password.changed account/${id}`,
      'system command-line: client.created client/shop',
      'system command-line: client.deleted client/shop',
    ]);
    expect(lines.filter(({ request }) => request !== undefined)).toEqual([]);
  });

  it('tells who the first administrator is', async () => {
    const other = await startAuth({ settings: { demo: false } });
    const browser = await import('../support/pages/browser-session.ts').then((all) =>
      all.createBrowserSession(),
    );
    const page = await browser.fetch(other.setupLink ?? '');
    const fields = { username: 'anna', password: goodPassword, repeated: goodPassword };
    await browser.submit(other.setupLink ?? '', await page.text(), fields);
    const anna = callerWithToken(other, await other.tokenOf('anna', goodPassword));
    const { id } = (await anna.list()).get('anna') ?? {};
    const { values } = await readAudit((path) => anna.send('GET', path), 'auth');
    await other.stop();
    expect(sentencesOf(values)).toEqual([`account ${id}: account.created account/${id}`]);
  });

  it('has no line of a rejected request, and none of a change that changes nothing', async () => {
    const operator = await operatorCaller();
    const known = (await readLog()).length;
    const path = `/accounts/${rootId}`;
    const rejected = [
      await makeKey(operator),
      await root.send('POST', '/keys', { name: '', scope: 'OWNER' }),
      await root.send('DELETE', '/keys/0197a1f0-58c1-7b1e-9c1d-3f0c2b8f4a11'),
      await root.send('POST', '/accounts', { name: 'root', role: 'user' }),
      await root.send('PUT', path, { disabled: true }),
      await root.send('DELETE', path),
      await root.send('PUT', '/user/password', { current: 'wrong', password: 'another long phrase' }),
    ];
    expect(rejected.map(({ status }) => status)).toEqual([403, 422, 404, 409, 409, 409, 422]);
    expect((await root.send('PUT', path, { role: 'admin' })).status).toBe(200);
    expect((await readLog()).length).toBe(known);
  });

  it('is for administrators alone', async () => {
    const operator = await operatorCaller();
    expect((await operator.send('GET', '/audit/auth')).status).toBe(403);
    expect((await under.fetch('/audit/auth')).status).toBe(401);
  });

  it('names neither accounts nor keys', async () => {
    await root.invite('a-telling-name');
    await makeKey();
    const stored = JSON.stringify(await under.db.query(sql`SELECT * FROM audit_log`));
    for (const name of ['root', 'a-telling-name', 'The shop']) expect(stored).not.toContain(name);
  });
});

describe('a line and its action', () => {
  const failOn = async (table: string, condition: string, work: () => Promise<void>) => {
    const text = `ALTER TABLE ${table} ADD CONSTRAINT refused CHECK (${condition}) NOT VALID`;
    await under.db.query(sql([text] as unknown as TemplateStringsArray));
    await work();
    await under.db.query(
      sql([`ALTER TABLE ${table} DROP CONSTRAINT refused`] as unknown as TemplateStringsArray),
    );
  };
  const countKeys = async () =>
    ((await (await root.send('GET', '/keys?limit=200')).json()) as unknown[]).length;

  it('are both rolled back if the line cannot be written', async () => {
    const before = await countKeys();
    await failOn('audit_log', `action <> 'key.created'`, async () => {
      // The contract has no answer for it.
      await expect(makeKey()).rejects.toThrow('answered 500');
    });
    expect(await countKeys()).toBe(before);
  });

  it('are both rolled back if the action fails', async () => {
    await failOn('outbox', `topic <> 'accord.keys'`, async () => {
      // The contract has no answer for it.
      await expect(makeKey()).rejects.toThrow('answered 500');
    });
    expect(await newLines()).toEqual([]);
  });
});

async function operatorCaller(): Promise<AccountCaller> {
  const name = `operator ${crypto.randomUUID()}`;
  await addAccount(under.db, { name, role: 'operator', password: goodPassword });
  return callerWithToken(under, await under.tokenOf(name, goodPassword));
}
