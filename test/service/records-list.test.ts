import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { createKey, signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { runInDatabase } from '../support/instances/live-database.ts';
import { createTransaction, recordAnswers, recordsOf } from '../support/instances/live-transactions.ts';

const instance = useInstance();
const operator = useSetup(() => signIn(instance, 'operator'));
const user = useSetup(() => signIn(instance, 'user'));

const letter = 'element/processing/processing.001/1.0';
const study = 'element/processing/processing.002/1.0';
const interests = 'element/preference/preference.002/1.0';

describe('a record', () => {
  it('has answer, versions, origin, author and transaction', async () => {
    const context = {
      layoutData: { info: 'information.001', elements: ['preference.002'] },
      origin: 'EMAIL',
      author: 'Counter 3',
      object: 'season 12',
    };
    const started = Date.now();
    const answers = { [interests]: ['Dance', 'Concerts'], comment: ['She told us on the phone.'] };
    const made = await recordAnswers(operator, 'ann', answers, context);
    const records = await recordsOf(operator, 'ann');
    expect(Object.keys(records)).toEqual(['preference.002|ann|season 12']);
    const [record] = records['preference.002|ann|season 12'] ?? [];
    expect(record).toMatchObject({
      infoKey: 'information.001',
      infoSerial: '1.0',
      bodyKey: 'preference.002',
      bodySerial: '1.0',
      subject: 'ann',
      object: 'season 12',
      type: 'preference',
      value: 'Dance,Concerts',
      values: ['Dance', 'Concerts'],
      state: 'COMMITTED',
      origin: 'EMAIL',
      author: 'Counter 3',
      comment: 'She told us on the phone.',
      transaction: made.id,
    });
    expect(record?.creationTimestamp).toBeGreaterThan(started - 5_000);
    expect(record?.creationTimestamp).toBeLessThan(Date.now() + 5_000);
  });

  it('has the subject as author for answers by the link, else the caller', async () => {
    const layoutData = { elements: ['processing.001'] };
    const { task, token } = await createTransaction(operator, { subject: 'ben', layoutData });
    const posted = await instance.fetch(`${task}?t=${token}`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ [letter]: ['accepted'], comment: '  Thank you  ' }),
    });
    expect(posted.status).toBe(200);
    const key = await createKey(instance, 'till');
    await recordAnswers(key, 'ben', { [study]: ['refused'] });
    const records = await recordsOf(operator, 'ben');
    expect(records['processing.001']).toMatchObject([
      { author: 'ben', comment: 'Thank you', origin: 'WEBFORM' },
    ]);
    expect(records['processing.002']).toMatchObject([{ author: 'till' }]);
    expect(records['processing.002']?.[0]).not.toHaveProperty('comment');
    expect(records['processing.002']?.[0]).not.toHaveProperty('object');
  });

  it.each([
    ['longer than 4,000 characters', 'x'.repeat(4_001)],
    ['of two texts', ['one', 'two']],
  ])('takes no comment %s, and then is not written', async (what, comment) => {
    const values = { [letter]: ['accepted'], comment };
    const context = { subject: what, layoutData: { elements: ['processing.001'] } };
    const answer = await operator.send('POST', '/consents/singlestep', { context, values });
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ errors: [{ pointer: '/values/comment' }] });
    expect(await recordsOf(operator, what)).toEqual({});
  });

  it('counts the code points of a comment', async () => {
    const comment = '🙂'.repeat(4_000);
    await recordAnswers(operator, 'bea', { [letter]: ['accepted'], comment: [comment] });
    expect((await recordsOf(operator, 'bea'))['processing.001']).toMatchObject([{ comment }]);
  });

  it('has no values if none was chosen', async () => {
    await recordAnswers(operator, 'cleo', { [interests]: [] });
    expect((await recordsOf(operator, 'cleo'))['preference.002']).toMatchObject([{ value: '', values: [] }]);
  });

  it('stores subject and object trimmed and in NFC, with their case', async () => {
    await recordAnswers(operator, ' Zoe\u0308 ', { [letter]: ['accepted'] }, { object: ' Re\u0301seau ' });
    expect(Object.keys(await recordsOf(operator, 'Zo\u00eb'))).toEqual([
      'processing.001|Zo\u00eb|R\u00e9seau',
    ]);
    expect(Object.keys(await recordsOf(operator, 'Zoe\u0308'))).toHaveLength(1);
    expect(await recordsOf(operator, 'zo\u00eb')).toEqual({});
  });
});

describe('a list of records', () => {
  const keysOf = async (filter: string) => Object.keys(await recordsOf(operator, 'dora', filter)).sort();

  beforeAll(async () => {
    await recordAnswers(operator, 'dora', { [letter]: ['accepted'], [study]: ['refused'] });
    await recordAnswers(operator, 'dora', { [interests]: ['Drama', 'Dance'] });
    await recordAnswers(operator, 'dora', { [letter]: ['refused'] }, { object: 'child' });
  });

  it.each([
    ['', ['preference.002', 'processing.001', 'processing.001|dora|child', 'processing.002']],
    [
      '&elements=processing.001,preference.002',
      ['preference.002', 'processing.001', 'processing.001|dora|child'],
    ],
    ['&elements=processing.002&elements=preference.002', ['preference.002', 'processing.002']],
    ['&object=child', ['processing.001|dora|child']],
    ['&value=refused', ['processing.001|dora|child', 'processing.002']],
    ['&value=Dance', ['preference.002']],
    ['&infos=information.001&elements=processing.002', ['processing.002']],
    ['&infos=information.002', []],
    ['&states=VALID&elements=processing.002', ['processing.002']],
    ['&states=OBSOLETE,EXPIRED', []],
    ['&before=2026-01-01', []],
    ['&after=2026-01-01T00:00:00Z&elements=processing.002', ['processing.002']],
    ['&elements=&states=&object=&value=&after=&before=&infos=information.002', []],
  ])('is narrowed by %j', async (filter, keys) => {
    expect(await keysOf(filter)).toEqual(keys);
  });

  it('is filtered by times in milliseconds, from `after` to before `before`', async () => {
    const [record] = (await recordsOf(operator, 'dora'))['processing.002'] ?? [];
    const at = record?.creationTimestamp ?? 0;
    expect(await keysOf(`&elements=processing.002&after=${at}&before=${at + 1}`)).toEqual(['processing.002']);
    expect(await keysOf(`&elements=processing.002&before=${at}`)).toEqual([]);
  });

  it('shows the status of a record although a filter hides the newer one', async () => {
    await recordAnswers(operator, 'emil', { [letter]: ['accepted'] });
    await recordAnswers(operator, 'emil', { [letter]: ['refused'] });
    const older = await recordsOf(operator, 'emil', '&value=accepted');
    expect(older['processing.001']).toMatchObject([{ value: 'accepted', status: 'OBSOLETE' }]);
    expect(await recordsOf(operator, 'emil', '&value=accepted&states=VALID')).toEqual({});
  });

  it('has the newest 100 of each key and object, newest first', async () => {
    const made = await recordAnswers(operator, 'fay', { [letter]: ['accepted'], [study]: ['accepted'] });
    await runInDatabase(
      instance,
      `INSERT INTO transactions.records
       SELECT (r).* FROM (SELECT jsonb_populate_record(r, jsonb_build_object('id', gen_random_uuid(), 'comment', n::text, 'from_position', null, 'from_at', null,
                'created_at', r.created_at - n * interval '1 s', 'committed_at', r.committed_at - n * interval '1 s')) AS r
                FROM transactions.records AS r CROSS JOIN generate_series(1, 120) AS n
               WHERE r.transaction = $1 AND r.key = 'processing.001') AS copies`,
      [made.id],
    );
    const records = await recordsOf(operator, 'fay');
    const comments = records['processing.001']?.map(({ comment }) => comment);
    expect(comments).toEqual([undefined, ...Array.from({ length: 99 }, (_, index) => String(index + 1))]);
    expect(records['processing.002']).toHaveLength(1);
  });

  it.each([
    ['&states=VALUED', '/states'],
    ['&states=VALID,COMITTED', '/states'],
    ['&after=yesterday', '/after'],
    ['&before=2026-13-01', '/before'],
  ])('with the filter %j is refused with its place', async (filter, pointer) => {
    const answer = await operator.get(`/records?subject=dora${filter}`);
    expect(answer.status).toBe(422);
    expect(await answer.json()).toMatchObject({ errors: [{ pointer }] });
  });

  it('needs a subject, and is empty for an unknown one', async () => {
    expect((await operator.get('/records')).status).toBe(400);
    expect((await operator.get('/records?subject=')).status).toBe(400);
    expect(await recordsOf(operator, randomUUID())).toEqual({});
  });
});

describe('whose records one may see', () => {
  beforeAll(() => recordAnswers(operator, 'user', { [letter]: ['accepted'] }));

  it('operators and keys see those of all subjects, by query and by path', async () => {
    const key = await createKey(instance, 'records');
    for (const caller of [operator, key]) {
      const byQuery = await recordsOf(caller, 'user');
      expect(byQuery['processing.001']).toHaveLength(1);
      expect(await (await caller.get('/subjects/user/records')).json()).toEqual(byQuery);
    }
  });

  it('users see their own, and /user/records redirects to them', async () => {
    const led = await user.get('/user/records');
    expect(led.status).toBe(303);
    const own = await user.get(led.headers.get('location') ?? '');
    expect(Object.keys((await own.json()) as object)).toEqual(['processing.001']);
    expect((await user.get('/subjects/user/records')).status).toBe(200);
  });

  it("a user is refused another's by query, and finds none by address", async () => {
    expect((await user.get('/records?subject=dora')).status).toBe(403);
    expect((await user.get('/subjects/dora/records')).status).toBe(404);
  });

  it('/user/records rejects anonymous callers, and redirects a key to its own name', async () => {
    expect((await instance.fetch('/user/records')).status).toBe(401);
    const key = await createKey(instance, 'till & co');
    const { headers } = await key.get('/user/records');
    expect(headers.get('location')).toBe(`${instance.url}/records?subject=till%20%26%20co`);
  });

  it('/subjects/{name}/records accepts the same filters', async () => {
    const filtered = async (filter: string) =>
      Object.keys((await (await operator.get(`/subjects/dora/records?${filter}`)).json()) as object);
    expect(await filtered('value=Dance&states=VALID')).toEqual(['preference.002']);
    expect(await filtered('elements=processing.001&object=child&infos=information.001')).toHaveLength(1);
    expect(await filtered('before=2026-01-01')).toEqual([]);
    expect((await operator.get('/subjects/dora/records?states=VALUED')).status).toBe(422);
  });
});
