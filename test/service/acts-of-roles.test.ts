import { describe, expect, it } from 'vitest';
import { readAudit } from '../support/instances/audit-reader.ts';
import { type Caller, createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';

const roles = ['clerk', 'author', 'auditor', 'technician'] as const;
type Role = (typeof roles)[number];

const instance = useInstance();
const admin = useSetup(() => signIn(instance, 'admin'));
const shop = useSetup(() => createKey(instance, 'shop'));
const callers = useSetup(async () =>
  Object.fromEntries(
    await Promise.all(roles.map(async (role) => [role, await signIn(instance, role)] as const)),
  ),
);

const element = 'element/processing/processing.001/1.0';
const answers = { [element]: ['accepted'] };
const layoutData = { elements: ['processing.001'] };
const jsonOf = async <T>(response: Promise<Response>) => (await (await response).json()) as T;
const idOf = async (response: Promise<Response>) => (await jsonOf<{ id: string }>(response)).id;
/** A transaction of the organisation's program, which names somebody as author of the answers. */
const transactionFor = (subject: string, more: object = {}) =>
  idOf(shop.send('POST', '/consents', { subject, layoutData, author: 'Dr Who', ...more }));
const answeredFor = async (subject: string) => {
  const id = await transactionFor(subject, { author: undefined });
  await shop.send('POST', `/consents/${id}/submit`, answers);
  return id;
};
const newModel = () => idOf(admin.send('POST', '/models', { type: 'theme', name: 'Sand' }));
const targetUrl = 'https://shop.example.org/hooks';

/** An act: who may do it, and how it is done for a person of whom nothing else is known. */
interface Act {
  name: string;
  may: readonly Role[];
  /** Whether it makes records, which have an author. */
  records?: true;
  area: 'auth' | 'models' | 'consents' | 'peers' | 'webhooks';
  run(caller: Caller, subject: string): Promise<Response>;
}

const acts: Act[] = [
  {
    name: 'creates a transaction',
    may: ['clerk'],
    area: 'consents',
    run: (caller, subject) => caller.send('POST', '/consents', { subject, layoutData }),
  },
  {
    name: 'answers a transaction that names another author',
    may: ['clerk'],
    records: true,
    area: 'consents',
    run: async (caller, subject) =>
      caller.send('POST', `/consents/${await transactionFor(subject)}/submit`, answers),
  },
  {
    name: 'answers in a single step, as if the person had',
    may: ['clerk'],
    records: true,
    area: 'consents',
    run: (caller, subject) =>
      caller.send('POST', '/consents/singlestep', {
        context: { subject, layoutData, origin: 'USER' },
        values: answers,
      }),
  },
  {
    name: 'confirms answers with a code',
    may: ['clerk'],
    area: 'consents',
    async run(caller, subject) {
      const id = await transactionFor(subject, { author: undefined, confirmation: 'FORM_CODE' });
      await shop.send('POST', `/consents/${id}/submit`, answers);
      const { code } = await jsonOf<{ code: string }>(shop.get(`/consents/${id}/confirm`));
      return caller.send('POST', `/consents/${id}/confirm`, { code });
    },
  },
  {
    name: 'withdraws at a transaction',
    may: ['clerk'],
    records: true,
    area: 'consents',
    run: async (caller, subject) =>
      caller.send('POST', `/consents/${await answeredFor(subject)}/withdraw`, {
        elements: ['processing.001'],
      }),
  },
  {
    name: 'withdraws for a person',
    may: ['clerk'],
    records: true,
    area: 'consents',
    async run(caller, subject) {
      await answeredFor(subject);
      return caller.send('POST', '/choices/withdraw', { subject });
    },
  },
  {
    name: 'changes a person',
    may: ['clerk'],
    area: 'consents',
    async run(caller, subject) {
      await transactionFor(subject);
      const id = await idOf(shop.get(`/subjects/${subject}`));
      return caller.send('PUT', `/subjects/${id}`, { emailAddress: 'a@example.org' });
    },
  },
  {
    name: 'exports all data of a person',
    may: ['clerk'],
    area: 'consents',
    async run(caller, subject) {
      await answeredFor(subject);
      return caller.get(`/subjects/${subject}/export`);
    },
  },
  {
    name: 'reads a person',
    may: ['clerk', 'auditor'],
    area: 'consents',
    async run(caller, subject) {
      await answeredFor(subject);
      return caller.get(`/subjects/${subject}/records`);
    },
  },
  {
    name: 'reads a receipt',
    may: ['clerk', 'auditor'],
    area: 'consents',
    run: async (caller, subject) => caller.get(`/receipts/${await answeredFor(subject)}`),
  },
  {
    name: 'creates an element',
    may: ['author'],
    area: 'models',
    run: (caller) => caller.send('POST', '/models', { type: 'theme', name: 'Sand' }),
  },
  {
    name: 'deletes an element',
    may: ['author'],
    area: 'models',
    run: async (caller) => caller.send('DELETE', `/models/${await newModel()}`),
  },
  {
    name: 'creates a webhook',
    may: ['technician'],
    area: 'webhooks',
    run: (caller) =>
      caller.send('POST', '/webhooks', { targetUrl, subscribedActions: ['consent.committed'] }),
  },
  {
    name: 'creates a key for a partner',
    may: ['technician'],
    area: 'auth',
    run: (caller) => caller.send('POST', '/keys', { name: 'partner', scope: 'PEER' }),
  },
  {
    name: 'creates a key that reads answers',
    may: [],
    area: 'auth',
    run: (caller) => caller.send('POST', '/keys', { name: 'shop', scope: 'OWNER' }),
  },
  {
    name: 'creates an account',
    may: [],
    area: 'auth',
    run: (caller, subject) => caller.send('POST', '/accounts', { name: subject, role: 'admin' }),
  },
  {
    name: 'names another author',
    may: [],
    area: 'consents',
    run: (caller, subject) => caller.send('POST', '/consents', { subject, layoutData, author: 'Dr Who' }),
  },
  {
    name: 'has a form made while it asks for a decision',
    may: ['clerk'],
    area: 'consents',
    run: (caller, subject) =>
      caller.send('POST', '/decisions', {
        subject,
        questions: [{ element: 'processing.001' }],
        capture: { layoutData },
      }),
  },
];

describe.each(acts)('a person who $name', ({ may, area, records, run }) => {
  it.each(roles)(
    'in the role %s is named in the log, on the record and on the receipt, or is refused',
    async (role) => {
      const subject = `person-${crypto.randomUUID()}`;
      const response = await run(callers[role] as Caller, subject);
      const request = response.headers.get('x-request-id');
      const { values } = await readAudit((path) => admin.get(path), area, '?limit=200');
      const lines = values.filter((line) => line.request === request && line.actorKind !== 'system');
      if (!may.includes(role)) {
        expect([response.status, lines]).toEqual([403, []]);
        return;
      }
      expect(response.status).toBeLessThan(300);
      expect(lines.length).toBeGreaterThan(0);
      expect([...new Set(lines.map(({ actor }) => actor))]).toEqual([`demo-${role}`]);
      if (!records) return;
      const made = await rowsOf<object>(
        instance,
        `SELECT DISTINCT ON (r.transaction) r.author, r.origin, c.body::jsonb ->> 'author' AS "on the receipt",
              c.body::jsonb ->> 'collectionMethod' AS "as"
       FROM transactions.records AS r JOIN transactions.receipts AS c ON c.transaction = r.transaction
       WHERE r.subject = '${subject}' ORDER BY r.transaction, r.created_at`,
      );
      const own = { author: role, origin: 'OPERATOR', 'on the receipt': role, as: 'OPERATOR' };
      expect(made.at(-1)).toBeDefined();
      expect(made.filter((row) => (row as { author: string }).author !== 'shop')).toEqual([own]);
    },
  );
});

it('a clerk who opens the preview sees it as the person would, an author only without a person', async () => {
  const body = { subject: 'ann', layoutData };
  expect((await (callers.clerk as Caller).send('POST', '/consents/preview', body)).status).toBe(200);
  expect((await (callers.author as Caller).send('POST', '/consents/preview', body)).status).toBe(403);
  expect((await (callers.author as Caller).send('POST', '/consents/preview', { layoutData })).status).toBe(
    200,
  );
});
