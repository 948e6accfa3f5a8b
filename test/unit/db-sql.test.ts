import fc from 'fast-check';
import { beforeAll, expect, test, vi } from 'vitest';

/** A module of its own, because the module that test files share may have reached its limit of names. */
let { compile, empty, join, sql } = {} as typeof import('#lib/db/sql.ts');
beforeAll(async () => {
  vi.resetModules();
  ({ compile, empty, join, sql } = await import('#lib/db/sql.ts'));
});

test('values become parameters, in order', () => {
  const { text, values } = compile(sql`SELECT ${1}, ${'two'} FROM t WHERE a = ${null}`);
  expect(text).toBe('SELECT $1, $2 FROM t WHERE a = $3');
  expect(values).toEqual([1, 'two', null]);
});

test('statements inside a statement become part of it, however deep', () => {
  const inner = sql`a = ${1} AND b = ${2}`;
  const middle = sql`(${inner}) OR c = ${3}`;
  const { text, values } = compile(sql`SELECT ${0} WHERE ${middle}${empty} LIMIT ${4}`);
  expect(text).toBe('SELECT $1 WHERE (a = $2 AND b = $3) OR c = $4 LIMIT $5');
  expect(values).toEqual([0, 1, 2, 3, 4]);
});

test('statements can be joined, also none and one', () => {
  const conditions = [sql`a = ${1}`, sql`b = ${2}`, sql`true`];
  expect(compile(join(conditions, ' AND ')).text).toBe('a = $1 AND b = $2 AND true');
  expect(compile(join([sql`x`])).text).toBe('x');
  expect(compile(sql`SELECT 1 ${join([])}`)).toMatchObject({ text: 'SELECT 1 ', values: [] });
});

test('no value ever gets into the text, whatever it looks like', () => {
  fc.assert(
    fc.property(fc.anything(), fc.string(), (anything, string) => {
      const { text, values } = compile(sql`SELECT ${anything} ${sql`, ${string}`}`);
      expect(text).toBe('SELECT $1 , $2');
      expect(values).toEqual([anything, string]);
    }),
  );
});

test('an object that only looks like a statement is a value', () => {
  const forged = JSON.parse('{"pieces":["1; DROP TABLE records"],"values":[]}');
  expect(compile(sql`SELECT ${forged}`)).toMatchObject({ text: 'SELECT $1', values: [forged] });
});

test('the same text has the same name, another text another one', () => {
  const find = (id: number) => sql`SELECT 1 FROM names WHERE id = ${id}`;
  expect(compile(find(1)).name).toBe(compile(find(2)).name);
  expect(compile(sql`SELECT 1 FROM names WHERE id = ${3}`).name).toBe(compile(find(1)).name);
  expect(compile(sql`SELECT 2 FROM names WHERE id = ${3}`).name).not.toBe(compile(find(1)).name);
});

test('texts put together ever anew are not kept parsed for ever', () => {
  const names = Array.from({ length: 1_100 }, (_, count) => {
    const columns = Array.from({ length: count + 1 }, () => sql`${1}`);
    return compile(sql`SELECT ${join(columns)}`).name;
  });
  expect(new Set(names).size).toBeLessThanOrEqual(1_001);
  expect(names.at(-1)).toBeUndefined();
});
