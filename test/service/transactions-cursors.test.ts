import { describe, expect, it } from 'vitest';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { runInDatabase } from '../support/instances/live-database.ts';
import { createTransaction } from '../support/instances/live-transactions.ts';

const instance = useInstance();
const operator = useSetup(() => signIn(instance, 'operator'));

interface Page {
  names: string[];
  next: string | undefined;
}

/** Lists with cursors. `make` creates an item that the query finds. */
const lists = {
  '/transactions': {
    make: (name: string) => createTransaction(operator, { subject: 'paged', object: name }),
    query: 'subject=paged',
    async read(response: Response): Promise<Page> {
      const page = (await response.json()) as { values: { context: { object: string } }[]; next?: string };
      expect(response.headers.get('link')).toBeNull();
      const next = page.next && `/transactions?subject=paged&limit=2&cursor=${page.next}`;
      return { names: page.values.map(({ context }) => context.object), next };
    },
  },
  '/subjects': {
    make: (name: string) => operator.send('POST', '/subjects', { name: `paged-${name}` }),
    query: 'name=PAGED-',
    async read(response: Response): Promise<Page> {
      const page = (await response.json()) as { name: string }[];
      const link = response.headers.get('link') ?? undefined;
      return {
        names: page.map(({ name }) => name.replace('paged-', '')),
        next: link?.match(/^<(.+)>; rel="next"$/)?.[1],
      };
    },
  },
};

describe.each(Object.entries(lists))('%s', (path, { make, query, read }) => {
  const readPage = async (address: string) => read(await operator.get(address));

  it('continues after the previous page, whatever has been created since', async () => {
    for (const name of ['1', '2', '3', '4', '5']) await make(name);
    const first = await readPage(`${path}?${query}&limit=2`);
    expect(first.names).toEqual(['5', '4']);
    await make('6');
    const second = await readPage(first.next ?? '');
    expect(second.names).toEqual(['3', '2']);
    await make('7');
    const third = await readPage(second.next ?? '');
    expect(third).toEqual({ names: ['1'], next: undefined });
    expect((await readPage(`${path}?${query}&limit=2`)).names).toEqual(['7', '6']);
  });

  it('skips no items created at the same time', async () => {
    await runInDatabase(
      instance,
      `UPDATE transactions${path.replace('/', '.')} SET created_at = '2026-01-01'`,
    );
    const found: string[] = [];
    for (let next: string | undefined = `${path}?${query}&limit=2`; next; ) {
      const page: Page = await readPage(next);
      expect(page.names.length).toBeLessThanOrEqual(2);
      found.push(...page.names);
      next = page.next;
    }
    expect(found.toSorted()).toEqual(['1', '2', '3', '4', '5', '6', '7']);
  });

  const id = path === '/transactions' ? '7Zk3pQxWm4tYv9LsRb2NcD' : '0197a1ee-7a34-7b61-93c2-8d1f6a2e4b10';
  const cursorOf = (position: unknown) => Buffer.from(JSON.stringify(position)).toString('base64url');
  it.each([
    'garbled',
    '',
    cursorOf({}),
    cursorOf(null),
    cursorOf(['2026-01-01 00:00:00+00']),
    cursorOf(['yesterday', id]),
    cursorOf(['2026-02-30 00:00:00+00', id]),
    cursorOf(['2026-01-01 00:00:00+00', "' OR true --"]),
    cursorOf(['2026-01-01 00:00:00+00', { id }]),
  ])('rejects the invalid cursor %j', async (cursor) => {
    expect((await operator.get(`${path}?cursor=${encodeURIComponent(cursor)}`)).status).toBe(400);
  });

  it('accepts a limit of 1 to 200', async () => {
    for (const limit of ['0', '201', '-1', '1.5', 'ten', ''])
      expect((await operator.get(`${path}?limit=${limit}`)).status).toBe(400);
    expect((await operator.get(`${path}?limit=200`)).status).toBe(200);
    expect((await operator.get(`${path}?limit=1&limit=2`)).status).toBe(400);
  });
});

it('a page has 50 subjects by default', async () => {
  await runInDatabase(
    instance,
    `INSERT INTO transactions.subjects (id, name, created_at, modified_at)
     SELECT gen_random_uuid(), 'crowd-' || n, now(), now() FROM generate_series(1, 60) AS n`,
  );
  const first = await operator.get('/subjects?name=crowd');
  expect((await first.json()) as unknown[]).toHaveLength(50);
  expect(first.headers.get('link')).toMatch(/^<http.+&limit=50&name=crowd>; rel="next"$/);
});
