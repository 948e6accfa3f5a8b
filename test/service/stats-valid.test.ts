import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { components } from '#lib/contracts/openapi.gen.ts';
import { recordStatus } from '#lib/contracts/record-status.ts';
import { createDatabase, type Database } from '#lib/db/database.ts';
import { createPool } from '#lib/db/pool.ts';
import { sql } from '#lib/db/sql.ts';
import { createLogger } from '#lib/observability/logger.ts';
import { createValidCounts } from '../../services/transactions/statistics/count-valid-answers.ts';
import { signIn } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { letTimePass } from '../support/instances/live-database.ts';
import { activateContent, makeLiveModel, withdrawModel } from '../support/instances/live-models.ts';
import { createTransaction, recordAnswers } from '../support/instances/live-transactions.ts';
import { until } from '../support/run/until.ts';
import { sampleContent } from '../support/samples/forms-models.ts';

type ValidAnswers = components['schemas']['ValidAnswers'];

const instance = useInstance();
const operator = useSetup(() => signIn(instance, 'operator'));
const admin = useSetup(() => signIn(instance, 'admin'));

const content = { en: sampleContent.processing };
const makeElement = () => makeLiveModel(admin, 'processing', content);
const answer = (key: string, decision: string, context: Record<string, unknown> = {}, serial = '1.0') =>
  recordAnswers(
    operator,
    `subject ${randomUUID()}`,
    { [`element/processing/${key}/${serial}`]: [decision] },
    context,
  );
const count = async (query: string) =>
  (await (await operator.get(`/stats/valid?${query}`)).json()) as ValidAnswers;
const countOf = async (key: string, more = '') => (await count(`keys=${key}${more}`)).values[0];

describe('the count of valid answers to an element', () => {
  it('has one answer for each subject and object: the newest', async () => {
    const { key } = await makeElement();
    const identifier = `element/processing/${key}/1.0`;
    await recordAnswers(operator, 'ann', { [identifier]: ['accepted'] });
    await recordAnswers(operator, 'ann', { [identifier]: ['refused'] });
    await recordAnswers(operator, 'ann', { [identifier]: ['accepted'] }, { object: 'card 7' });
    await recordAnswers(operator, 'ben', { [identifier]: ['accepted'] });
    await recordAnswers(operator, 'trial/admin', { [identifier]: ['accepted'] });
    expect(await count(`keys=${key}`)).toEqual({
      at: expect.any(String),
      values: [{ key, type: 'processing', subjects: 3, accepted: 2, refused: 1, expiring: 0 }],
      atLeast: false,
    });
  });

  it('keeps its value after a MINOR, and is 0 after a MAJOR: these people are asked again', async () => {
    const element = await makeElement();
    await answer(element.key, 'accepted');
    await activateContent(admin, element, content, 'MINOR');
    expect(await countOf(element.key)).toMatchObject({ subjects: 1 });
    await activateContent(admin, element, content, 'MAJOR');
    expect((await count(`keys=${element.key}`)).values).toEqual([]);
    await answer(element.key, 'refused', {}, '2.0');
    expect(await countOf(element.key)).toMatchObject({ subjects: 1, accepted: 0, refused: 1 });
  });

  it('is 0 once the element is withdrawn, and for a key that does not exist', async () => {
    const element = await makeElement();
    await answer(element.key, 'accepted');
    await withdrawModel(admin, element);
    expect((await count(`keys=${element.key},no.such.key`)).values).toEqual([]);
  });

  it('tells how many expire within the period, and leaves out those that have expired', async () => {
    const { key } = await makeElement();
    for (const validity of ['P10D', 'P20D', 'P1Y']) await answer(key, 'accepted', { validity });
    expect(await countOf(key)).toMatchObject({ subjects: 3, expiring: 2 });
    expect(await countOf(key, '&within=P15D')).toMatchObject({ subjects: 3, expiring: 1 });
    await letTimePass(instance, '12 days');
    expect(await countOf(key)).toMatchObject({ subjects: 2, expiring: 1 });
    await letTimePass(instance, '0');
  });

  it('has only the answers given under an information if one is named: its MAJOR ends just these', async () => {
    const information = await makeLiveModel(admin, 'information', { en: { title: 'Study' } });
    const [{ key }, other] = [await makeElement(), await makeElement()];
    const under = { layoutData: { info: information.key, elements: [key] } };
    await answer(key, 'accepted', under);
    await answer(key, 'refused', under);
    await answer(key, 'accepted');
    await answer(other.key, 'accepted');
    const query = `keys=${key},${other.key}&information=${information.key}`;
    expect((await count(query)).values).toEqual([
      { key, type: 'processing', subjects: 2, accepted: 1, refused: 1, expiring: 0 },
    ]);
    await activateContent(admin, information, { en: { title: 'Study' } }, 'MAJOR');
    expect((await count(query)).values).toEqual([]);
    expect(await countOf(key)).toMatchObject({ subjects: 1 });
    expect((await count(`keys=${key}&information=no.such`)).values).toEqual([]);
  });

  it('has no decisions for a preference', async () => {
    await recordAnswers(operator, 'cleo', { 'element/preference/preference.003/1.0': ['An aisle seat'] });
    const counted = await countOf('preference.003');
    expect(counted).toEqual({ key: 'preference.003', type: 'preference', subjects: 1, expiring: 0 });
  });

  it('does not count an answer that waits for a code', async () => {
    const { key } = await makeElement();
    const context = { layoutData: { elements: [key] }, confirmation: 'FORM_CODE' };
    const { id } = await createTransaction(operator, context);
    await operator.send('POST', `/consents/${id}/submit`, {
      [`element/processing/${key}/1.0`]: ['accepted'],
    });
    expect((await count(`keys=${key}`)).values).toEqual([]);
  });
});

it('a count without keys, of too many keys, or with a wrong period is rejected', async () => {
  const many = Array.from({ length: 201 }, (_, place) => `key.${place}`).join();
  const asked = ['', 'keys=', `keys=${many}`, 'keys=a&within=soon', 'keys=a&within=P200Y'];
  const statuses = await Promise.all(
    asked.map(async (query) => (await operator.get(`/stats/valid?${query}`)).status),
  );
  expect(statuses).toEqual([400, 400, 422, 422, 422]);
});

describe('counting in batches', () => {
  const active = {
    info: { major: 1, serial: '1.0', deleted: false },
    newer: { major: 2, serial: '2.0', deleted: false },
    steady: { major: 1, serial: '1.0', deleted: false },
    terms: { major: 1, serial: '1.0', deleted: false },
  };
  const forms = { activeVersions: async () => active };
  const types = { newer: 'processing', steady: 'preference', terms: 'conditions' } as const;
  type Key = keyof typeof types;
  const keys = Object.keys(types) as Key[];
  const day = 24 * 60 * 60 * 1000;

  let db: Database;
  let transaction: string;
  let close: () => Promise<void>;
  beforeAll(async () => {
    const log = createLogger({ level: 'silent' });
    const pool = createPool({ url: instance.databaseUrl, schema: 'transactions', log });
    db = createDatabase({ pool });
    close = () => pool.end();
    transaction = (await createTransaction(operator)).id;
  });
  afterAll(() => close?.());

  const sample = fc.record({
    id: fc.uuid(),
    subject: fc.constantFrom<string[]>('a', 'b', 'c'),
    object: fc.constantFrom('', 'x'),
    key: fc.constantFrom(...keys),
    serial: fc.constantFrom('1.0', '1.3', '2.0'),
    infoSerial: fc.constantFrom('1.0', '1.0', '1.0', '2.0'),
    answer: fc.constantFrom('accepted', 'refused'),
    state: fc.constantFrom('COMMITTED', 'COMMITTED', 'COMMITTED', 'PENDING', 'ROLLED_BACK'),
    committedDaysAgo: fc.integer({ min: 0, max: 9 }),
    expiresInDays: fc.constantFrom(-200, -3, 3, 20, 200),
  });
  type Sample = typeof sample extends fc.Arbitrary<infer Value> ? Value : never;
  const isCommitted = ({ state }: Sample) => state === 'COMMITTED';
  /** Sorts records of one subject, object and key. */
  const age = ({ committedDaysAgo, id }: Sample) => `${9 - committedDaysAgo} ${id}`;

  /** Counts one record after the other. */
  function countOneByOne(samples: readonly Sample[], now: Date) {
    const counts: Record<string, { subjects: number; expiring: number; accepted: number; refused: number }> =
      {};
    for (const each of samples) {
      const isSame = (other: Sample) =>
        other.subject === each.subject && other.object === each.object && other.key === each.key;
      const isInForce = !samples.some(
        (other) => isCommitted(other) && isSame(other) && age(other) > age(each),
      );
      const expiresAt = each.key === 'terms' ? null : new Date(now.getTime() + each.expiresInDays * day);
      const facts = { ...each, state: each.state as 'COMMITTED', infoKey: 'info', expiresAt, isInForce };
      if (recordStatus(facts, active, now)[0] !== 'VALID') continue;
      counts[each.key] ??= { subjects: 0, expiring: 0, accepted: 0, refused: 0 };
      const total = counts[each.key] as (typeof counts)[string];
      total.subjects += 1;
      total[each.answer as 'accepted'] += 1;
      if (expiresAt && each.expiresInDays <= 30) total.expiring += 1;
    }
    return counts;
  }

  async function store(samples: readonly Sample[]): Promise<void> {
    await db.query(sql`DELETE FROM records WHERE transaction = ${transaction}`);
    const rows = samples.map((each) => ({ ...each, type: types[each.key] }));
    await db.query(sql`
      INSERT INTO records (id, transaction, subject, object, key, type, serial, info_key, info_serial, value, positions,
                           state, origin, author, created_at, committed_at, expires_at)
      SELECT s.id, ${transaction}, s.subject, s.object, s.key, s.type, s.serial, 'info', s."infoSerial",
             ARRAY[s.answer], '{0}', s.state, 'WEBFORM', 'x', at.committed,
             CASE WHEN s.state = 'COMMITTED' THEN at.committed END,
             CASE WHEN s.key <> 'terms' THEN accord_now() + s."expiresInDays" * interval '1 day' + interval '1 minute' END
        FROM jsonb_to_recordset(${JSON.stringify(rows)}::jsonb)
               AS s (id uuid, subject text, object text, key text, type text, serial text, "infoSerial" text, answer text,
                     state text, "committedDaysAgo" int, "expiresInDays" int)
       CROSS JOIN LATERAL (SELECT date_trunc('day', accord_now()) - s."committedDaysAgo" * interval '1 day') AS at (committed)`);
    await db.query(sql`
      UPDATE records AS r
         SET from_position = p.place, from_at = r.committed_at, until_position = p.next, until_at = p.until
        FROM (SELECT o.id, row_number() OVER asked AS place, lead(o.committed_at) OVER asked AS until,
                     CASE WHEN lead(o.id) OVER asked IS NOT NULL THEN row_number() OVER asked + 1 END AS next
                FROM records AS o WHERE o.transaction = ${transaction} AND o.state = 'COMMITTED'
              WINDOW asked AS (PARTITION BY o.subject, o.object, o.key ORDER BY o.committed_at, o.id)) AS p
       WHERE r.id = p.id`);
  }

  const notReused = { reusedFrom: Number.POSITIVE_INFINITY };
  const countAll = (limits: { records: number; ms: number; batch: number }) =>
    createValidCounts({ db, forms }, { ...limits, ...notReused })({ keys, within: 'P30D' });

  it('counts as many as one by one, whatever the size of a batch', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(sample, { selector: ({ id }) => id, maxLength: 60 }),
        fc.integer({ min: 1, max: 20 }),
        async (samples, batch) => {
          await store(samples);
          const { at, values, atLeast } = await countAll({ records: 1_000_000, ms: 60_000, batch });
          const naive = countOneByOne(samples, at);
          const expected = Object.keys(naive)
            .toSorted()
            .map((key) => {
              const { accepted, refused, ...counts } = naive[key] as (typeof naive)[string];
              const type = types[key as Key];
              return { key, type, ...counts, ...(type === 'preference' ? {} : { accepted, refused }) };
            });
          expect(atLeast).toBe(false);
          expect(values).toEqual(expected);
        },
      ),
      { numRuns: 40 },
    );
  });

  it('stops at its limits, says so, and never counts too many', async () => {
    const answered = fc.sample(sample, { numRuns: 30, seed: 7 }).map(
      (each, place): Sample => ({
        ...each,
        id: randomUUID(),
        subject: `s${place}`,
        object: '',
        key: 'steady',
        serial: '1.0',
        infoSerial: '1.0',
        state: 'COMMITTED',
        expiresInDays: 3,
      }),
    );
    await store(answered);
    const limited = [
      await countAll({ records: 10, ms: 60_000, batch: 5 }),
      await countAll({ records: 1_000, ms: 0, batch: 5 }),
    ];
    expect(limited.map(({ values, atLeast }) => [values[0]?.subjects ?? 0, atLeast])).toEqual([
      [expect.any(Number), true],
      [0, true],
    ]);
    expect(limited[0]?.values[0]?.subjects).toBeLessThanOrEqual(10);
    const all = await countAll({ records: 1_000, ms: 60_000, batch: 5 });
    expect([all.values[0]?.subjects, all.atLeast]).toEqual([30, false]);
  });

  it('of many records is shared, and reused for a while, but not beyond the activation of a MAJOR', async () => {
    const { id } = fc.sample(sample, { numRuns: 1, seed: 7 })[0] as Sample;
    const facts = { id, subject: 'a', object: '', key: 'steady', serial: '1.0', infoSerial: '1.0' } as const;
    const stored = {
      ...facts,
      answer: 'accepted',
      state: 'COMMITTED',
      committedDaysAgo: 0,
      expiresInDays: 3,
    };
    await store([stored as Sample]);
    let statements = 0;
    const watched: Database = {
      ...db,
      query(statement) {
        statements += 1;
        return db.query(statement);
      },
    };
    let versions = active;
    const reused = createValidCounts(
      { db: watched, forms: { activeVersions: async () => versions } },
      { records: 1_000, ms: 60_000, batch: 10, reusedFrom: 1 },
    );
    const wanted = { keys: ['steady'], within: 'P30D' };
    const both = await Promise.all([reused(wanted), reused({ ...wanted })]);
    await store([]);
    both.push(await reused(wanted));
    expect(both.map(({ values }) => values[0]?.subjects)).toEqual([1, 1, 1]);
    expect(new Set(both.map(({ at }) => at.getTime())).size).toBe(1);
    expect(statements).toBe(1);
    versions = { ...active, steady: { major: 2, serial: '2.0', deleted: false } };
    expect((await reused(wanted)).values).toEqual([]);
    expect((await reused({ keys: ['steady'], within: 'P1D' })).values).toEqual([]);
    expect(statements).toBe(1);

    versions = active;
    const now = performance.now.bind(performance);
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + 60_000);
    onTestFinished(() => clock.mockRestore());
    await until(async () => expect((await reused(wanted)).values).toEqual([]));
  });

  it('does not stop because of many keys with few records', async () => {
    const { id } = fc.sample(sample, { numRuns: 1, seed: 7 })[0] as Sample;
    const facts = {
      id,
      subject: 'a',
      object: '',
      serial: '1.0',
      infoSerial: '1.0',
      answer: 'accepted',
    } as const;
    await store([{ ...facts, key: 'terms', state: 'COMMITTED', committedDaysAgo: 0, expiresInDays: 3 }]);
    const { values, atLeast } = await countAll({ records: 10, ms: 60_000, batch: 10 });
    expect([values.map(({ key }) => key), atLeast]).toEqual([['terms'], false]);
  });
});
