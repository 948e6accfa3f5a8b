import { expect, it } from 'vitest';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { rowsOf } from '../support/instances/live-database.ts';
import { letter } from '../support/instances/live-subject.ts';
import { recordAnswers } from '../support/instances/live-transactions.ts';

const instance = useInstance();
const shop = useSetup(() => createKey(instance));
const operator = useSetup(() => signIn(instance, 'operator'));
const user = useSetup(() => signIn(instance, 'user'));

interface Export {
  subject: { id: string; name: string };
  transactions: {
    id: string;
    records: { element: string; answers: string[]; comment?: string }[];
    receipt?: { consents: { identifier: string; texts: object }[] };
  }[];
  audit: Record<string, string>[];
}

const read = async (answer: Promise<Response>) => (await (await answer).json()) as Export;

it('an export has all of a person, page by page, and is audited without names', async () => {
  const made: string[] = [];
  for (const object of ['one', 'two', 'three'])
    made.unshift((await recordAnswers(shop, 'eve', { [letter]: ['accepted'] }, { object })).id);
  await recordAnswers(shop, 'somebody else', { [letter]: ['accepted'] });
  const whole = await read(operator.get('/subjects/eve/export'));
  expect(whole.transactions.map(({ id }) => id)).toEqual(made);
  for (const { records, receipt } of whole.transactions) {
    expect(records).toMatchObject([{ element: letter, answers: ['accepted'], state: 'COMMITTED' }]);
    expect(receipt?.consents[0]).toMatchObject({ identifier: letter, texts: expect.anything() });
  }
  const again = await read(shop.get('/subjects/eve/export'));
  expect(again.audit[0]).toEqual({ at: expect.any(String), action: 'subject.exported', by: 'account' });
  const lines = await rowsOf<{ target: string; kind: string }>(
    instance,
    `SELECT target, actor_kind AS kind FROM transactions.audit_log WHERE action = 'subject.exported' ORDER BY at`,
  );
  const target = `subject/${whole.subject.id}`;
  expect(lines).toEqual([
    { target, kind: 'account' },
    { target, kind: 'key' },
  ]);
  const first = await operator.get('/subjects/eve/export?limit=2');
  const next = /<([^>]+)>/.exec(first.headers.get('link') ?? '')?.[1] ?? '';
  const rest = await read(operator.get(next.slice(instance.url.length)));
  expect(rest.transactions.map(({ id }) => id)).toEqual(made.slice(2));
});

it('people export themselves only, and no line of the audit log tells of it', async () => {
  await recordAnswers(shop, 'user', { [letter]: ['refused'] });
  const own = await read(user.get('/subjects/user/export'));
  expect(own.transactions).toHaveLength(1);
  expect((await user.get('/subjects/eve/export')).status).toBe(404);
  expect((await operator.get('/subjects/nobody at all/export')).status).toBe(404);
});
