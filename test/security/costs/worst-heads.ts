import { maxHeaderSize } from '#lib/http/client-errors.ts';

/** A part of a request before its body that is costly for something: parsing, sorting, matching. */
export interface WorstHead {
  name: string;
  query?: string;
  headers?: Record<string, string>;
}

/** Beside these there are credentials and what every request has. */
const bytes = maxHeaderSize - 4_096;

const fill = (part: string, [start, end] = ['', '']) =>
  `${start}${part.repeat(Math.floor((bytes - start.length - end.length) / part.length))}${end}`;
const different = (of: (index: number) => string) => {
  let text = '';
  for (let index = 0; text.length < bytes - 10; index += 1) text += of(index);
  return text;
};

/** Very many parameters, or few whose values are worst for decoding. */
export const worstQueries: readonly WorstHead[] = [
  ['one name again and again', fill('a&')],
  ['one known name again and again', fill('t=&')],
  ['different names', different((index) => `${index.toString(36)}&`)],
  ['empty parameters', fill('&')],
  ['names of prototypes', fill('__proto__=1&')],
  ['escapes that are cut off', fill('%', ['t=', ''])],
  ['a list of commas', fill(',', ['elements=', ''])],
  ['brackets', fill('[a]', ['a', '=1'])],
].map(([name, query]) => ({ name: `a query with ${name}`, query: query as string }));

const headers: Record<string, string[]> = {
  Accept: [
    fill('a/b,'),
    fill('*/*;q=0.1,'),
    fill('"",', ['a/b;a="', '']),
    fill(' ', ['text/html', 'a']),
    fill(';a=b', ['text/html', '']),
  ],
  'Accept-Language': [fill('a-b,'), fill('a-', ['', 'b']), fill(';', ['en', ''])],
  'Accept-Encoding': [fill('a,'), fill(' ', ['br', 'a'])],
  Authorization: [
    fill('a.', ['Bearer ', 'a']),
    fill(' ', ['Bearer', 'a']),
    fill('YTph', ['Basic ', '']),
    fill('a.', ['Peer ', 'a']),
    fill('a', ['Transaction ', '']),
    fill('W1tb', ['Peer ', '.a.a']),
  ],
  CM_KEY: [fill('a_', ['acc_', '']), fill(' ', ['a', 'a'])],
  Cookie: [fill('a=b;'), fill(' ', ['a;', 'a']), fill('accord_console=;'), fill('accord_interaction=a;')],
  'If-None-Match': [fill(' ', ['"a"', 'a']), fill('"a",'), fill(' ,')],
  'If-Match': [fill('"a",'), fill(' ', ['"a"', 'a'])],
  'Content-Type': [
    fill(';a=b', ['application/json', '']),
    fill(' ', ['application/json', 'a']),
    fill('"', ['multipart/form-data;boundary=', '']),
  ],
  'X-Forwarded-For': [fill('1,'), fill(':', ['', '1']), fill(' ', ['1', '1'])],
  Forwarded: [fill('for=a;')],
  Range: [fill('0-1,', ['bytes=', '0'])],
  Host: [fill('a:'), fill('.', ['a', 'a'])],
  Origin: [fill('a:'), fill('/', ['http://', ''])],
  traceparent: [fill('00-')],
  'X-Request-Id': [fill('a-', ['', '!'])],
};

/** Headers that are read by any part of Accord, each at its worst. */
export const worstHeaders: readonly WorstHead[] = Object.entries(headers).flatMap(([name, values]) =>
  values.map((value) => ({ name: `${name}: ${value.slice(0, 30)}…`, headers: { [name]: value } })),
);
