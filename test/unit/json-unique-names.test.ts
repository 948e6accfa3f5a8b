import { array, assert, constantFrom, letrec, oneof, property, tuple } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Failure } from '#lib/errors/fail.ts';
import { parseJson } from '#lib/http/request-body.ts';
import { DuplicateMember, parseForeignJson } from '#lib/json/check-json.ts';

const read = (text: string) => parseForeignJson(Buffer.from(text));

function pointerOf(text: string): string | undefined {
  try {
    read(text);
    return undefined;
  } catch (error) {
    if (error instanceof DuplicateMember) return error.pointer;
    throw error;
  }
}

describe('a name that is given twice', () => {
  it.each([
    ['{"a":1,"a":1}', '/a'],
    ['{"a":1,"\\u0061":2}', '/a'],
    ['{"a":{"b":[{},{"c":1,"c":2}]}}', '/a/b/1/c'],
    ['{"a":{"x":1},"b":2,"a":{"x":1}}', '/a'],
    ['{"__proto__":1,"__proto__":2}', '/__proto__'],
    ['{"":1,"":2}', '/'],
    ['{"a/b~c":1,"a/b~c":2}', '/a~1b~0c'],
    ['[1,[2,{"\\"":1,"\\"":2}]]', '/1/1/"'],
    ['{"a":":","b":"{\\"a\\":1,","a":[]}', '/a'],
  ])('is found in %s', (text, pointer) => {
    expect(pointerOf(text)).toBe(pointer);
  });

  it.each(['{"a":{"a":1},"b":{"a":1}}', '[{"a":1},{"a":1}]', '{"a":"a\\":1,\\"a","b":":"}', '{}', '"a:b"'])(
    'is not found in %s',
    (text) => {
      expect(read(text)).toEqual(JSON.parse(text));
    },
  );

  it('makes a request body malformed, with a pointer', () => {
    try {
      parseJson(Buffer.from('{"x":[{"a":1,"a":2}]}'));
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(Failure);
      expect(error).toMatchObject({ code: 'malformed', errors: [{ pointer: '/x/0/a' }] });
    }
  });
});

/** JSON as it is written, where names may repeat. */
type Written = string | Written[] | { members: [string, Written][] };

const written = letrec<{ value: Written }>((tie) => ({
  value: oneof(
    { maxDepth: 4 },
    constantFrom('1', 'null', '":"', '"a,b"', '"{\\"a\\":1}"', '"\\\\"'),
    array(tie('value'), { maxLength: 3 }),
    array(tuple(constantFrom('"a"', '"\\u0061"', '"b"', '"\\"a"', '"__proto__"', '":"'), tie('value')), {
      maxLength: 4,
    }).map((members) => ({ members })),
  ),
})).value;

function write(value: Written): string {
  if (typeof value === 'string') return value;
  if (Array.isArray(value)) return `[${value.map(write).join(' , ')}]`;
  return `{${value.members.map(([name, member]) => `${name} : ${write(member)}`).join()}}`;
}

function repeats(value: Written): boolean {
  if (typeof value === 'string') return false;
  if (Array.isArray(value)) return value.some(repeats);
  const names = value.members.map(([name]) => JSON.parse(name) as string);
  return new Set(names).size < names.length || value.members.some(([, member]) => repeats(member));
}

it('is found wherever it is, and nowhere else', () => {
  assert(
    property(written, (value) => {
      const text = write(value);
      if (repeats(value)) expect(pointerOf(text)).toBeTypeOf('string');
      else expect(read(text)).toEqual(JSON.parse(text));
    }),
  );
});

it('costs little beside parsing', () => {
  const answers = Object.fromEntries(
    Array.from({ length: 3_000 }, (_, at) => [`element/processing/processing.${at}/1.0`, ['accepted']]),
  );
  const text = JSON.stringify(answers);
  const bytes = Buffer.from(text);
  const cpu = (work: () => unknown) => {
    const before = process.cpuUsage();
    for (let round = 0; round < 60; round += 1) work();
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  cpu(() => read(text));
  const parsing = cpu(() => parseJson(bytes));
  // Duplicates at the end: the whole text is read again.
  const twice = Buffer.from(`{"a":${text},"b":1,"b":2}`);
  expect(cpu(() => pointerOf(twice.toString()))).toBeLessThan(8 * parsing);
});
