import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { type GivenAnswer, startApiBetween } from '../support/console/api-between.ts';
import { type ConsolePages, openPages } from '../support/console/open-pages.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance } from '../support/instances/instance.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';
import { until } from '../support/run/until.ts';

const instance = useInstance();
let pages: ConsolePages;
beforeAll(async () => {
  pages = await openPages(instance, 'admin');
});
afterAll(() => pages?.close());

const linesOf = (csv: string) => csv.trim().split('\r\n').slice(1);
/** Opens pages of which some calls are answered by a test. */
async function openBetween(
  answer: (target: string) => GivenAnswer | undefined,
  rewrite?: (target: string) => string,
): Promise<ConsolePages> {
  const api = await startApiBetween(instance, answer, rewrite);
  onTestFinished(api.close);
  const opened = await openPages(instance, 'admin', { apiUrl: api.url });
  onTestFinished(opened.close);
  return opened;
}
/** A page of a list of transactions that is as long as a test says. */
function pageOf(target: string, total: number): GivenAnswer {
  const query = new URL(target, 'http://localhost').searchParams;
  const from = Number(query.get('cursor') ?? 0);
  const limit = Number(query.get('limit') ?? 50);
  const until = Math.min(total, from + limit);
  const values = Array.from({ length: until - from }, (_, index) => ({
    id: `t${from + index}`,
    subject: 'ann',
    state: 'COMMITTED',
    created: '2026-05-03T10:00:00.000Z',
  }));
  return { body: { values, ...(until < total && { next: String(until) }) } };
}

describe('the file of a long list', () => {
  it('has every row once, asks for as few pages as it can, and waits where the API limits the calls', async () => {
    const calls: string[] = [];
    const between = await openBetween((target) => {
      if (!target.startsWith('/transactions?')) return undefined;
      calls.push(target);
      return calls.length === 90 ? { status: 429, headers: { 'Retry-After': '1' } } : pageOf(target, 20_401);
    });
    const file = await between.get('/console/transactions?format=csv');
    expect(file.status).toBe(200);
    const lines = linesOf(await file.text());
    expect(lines.map((line) => line.split(',')[1])).toEqual(
      Array.from({ length: 20_401 }, (_, index) => `t${index}`),
    );
    expect(calls).toHaveLength(104);
    expect(calls[89]).toBe(calls[90]);
  });

  it('that breaks in the middle is no file that looks whole', async () => {
    const between = await openBetween((target) => {
      if (!target.startsWith('/transactions?')) return undefined;
      return target.includes('cursor=400') ? { status: 500 } : pageOf(target, 1_000);
    });
    const file = await between.get('/console/transactions?format=csv');
    await expect(file.text()).rejects.toThrow();
  });

  it('has the status of the API if its first page fails', async () => {
    const limited = { status: 429, headers: { 'Retry-After': '7' } };
    const between = await openBetween((target) =>
      target.startsWith('/transactions?') ? limited : undefined,
    );
    const file = await between.get('/console/transactions?format=csv');
    expect([file.status, file.headers.get('retry-after')]).toEqual([429, '7']);
  });

  it('of the audit log has the lines of all areas in their order, and asks each area for its largest pages', async () => {
    const admin = await signIn(instance, 'admin');
    for (let index = 0; index < 4; index += 1) {
      await admin.send('POST', '/keys', { name: `key ${index}`, scope: 'OWNER' });
      await admin.send('POST', '/models', { type: 'theme', name: `Theme ${index}` });
      await recordAnswers(admin, `s${index}`, { 'element/processing/processing.001/1.0': ['accepted'] });
    }
    const calls: string[] = [];
    const between = await openBetween((target) => {
      if (/^\/audit\/\w+\?/.test(target)) calls.push(target);
      return undefined;
    });
    const lines = linesOf(await (await between.get('/console/audit?format=csv')).text());
    const times = lines.map((line) => line.split(',')[0] ?? '');
    expect(times).toEqual(times.toSorted().toReversed());
    expect(lines.filter((line) => line.includes(',key.created,'))).toHaveLength(4);
    expect(lines.filter((line) => line.includes(',model.created,'))).toHaveLength(4);
    expect(new Set(calls).size).toBe(calls.length);
    for (const call of calls) expect(call).toContain('limit=200');
  });
});

describe('the files of a person with many transactions', () => {
  const findPerson = async (by: ConsolePages, name: string) => {
    const search = await by.post('/console/subjects', { word: name });
    return search.headers.get('location') ?? '';
  };

  it('have all of them, also if the API limits the calls, and the audit lines and peers of all pages once', async () => {
    const shop = await signIn(instance, 'operator');
    const made = [];
    for (let index = 0; index < 5; index += 1)
      made.push(
        await recordAnswers(shop, 'liv', {
          'element/processing/processing.001/1.0': [index % 2 ? 'refused' : 'accepted'],
        }),
      );
    const ids = made.map(({ id }) => id).toReversed();
    // Receipts are logged a moment after their COMMIT.
    await until(async () => {
      const { audit } = (await (await shop.get('/subjects/liv/export?limit=200')).json()) as {
        audit: { action: string }[];
      };
      expect(audit.filter(({ action }) => action === 'receipt.signed')).toHaveLength(5);
    });
    let calls = 0;
    // Pages of two transactions, and a limit in between.
    const between = await openBetween(
      (target) => {
        if (!/cursor=\w+&limit=200/.test(target)) return undefined;
        calls += 1;
        return calls % 2 === 1 ? { status: 429, headers: { 'Retry-After': '0' } } : undefined;
      },
      (target) => target.replace('limit=200', 'limit=2'),
    );
    const path = await findPerson(between, 'liv');
    type Exported = {
      subject: { name: string };
      transactions: { id: string }[];
      audit: object[];
      peers: object[];
    };
    const all = (await (await between.get(`${path}/export`)).json()) as Exported;
    expect(all.subject).toMatchObject({ name: 'liv' });
    expect(all.transactions.map(({ id }) => id)).toEqual(ids);
    expect(all.peers).toEqual([]);
    const whole = await shop.get('/subjects/liv/export?limit=200');
    const { audit } = (await whole.json()) as Exported;
    expect(all.audit.length).toBeGreaterThanOrEqual(5);
    expect(new Set(all.audit.map((line) => JSON.stringify(line))).size).toBe(all.audit.length);
    for (const line of audit.slice(-5)) expect(all.audit).toContainEqual(line);
  });
});

describe('a table on the page of a thing', () => {
  it('is exported as it stands there, one on each page', async () => {
    const shop = await signIn(instance, 'operator');
    const question = 'element/processing/processing.001/1.0';
    const { id } = await recordAnswers(shop, 'kim', { [question]: ['accepted'] });
    const search = await pages.post('/console/subjects', { word: 'kim' });
    const subject = search.headers.get('location') ?? '';
    for (const [path, table, line] of [
      [subject, 'history', /^processing\.001,.*,VALID,20\d\d-/],
      [`/console/transactions/${id}`, 'history', /^20\d\d-.*,COMMITTED$/],
      ['/console/elements/processing.001', 'answers', /^20\d\d-\d\d-\d\d,\d+,\d+,\d+$/],
      ['/console/forms/layout.001', 'elements', /^[^,]+,Processing,processing\.001,/],
    ] as const) {
      // Figures that take longer than a moment are loaded later.
      await vi.waitFor(
        async () => {
          const html = await (await pages.get(path)).text();
          expect(html.match(/href="[^"]*format=csv[^"]*"/g)).toEqual([
            `href="?format=csv&amp;table=${table}"`,
          ]);
        },
        { timeout: 20_000 },
      );
      const file = await pages.get(`${path}?format=csv&table=${table}`);
      expect(file.headers.get('content-disposition')).toMatch(
        new RegExp(`^attachment; filename="Riverside-${table}-\\d{4}-\\d\\d-\\d\\d\\.csv"$`),
      );
      expect(
        linesOf(await file.text()).some((each) => line.test(each)),
        table,
      ).toBe(true);
    }
  });
});
