import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Mapping, readMapping } from '#lib/moving/mapping.ts';
import { readMapped } from '#lib/moving/read-mapped.ts';
import { strayQuote } from '#lib/moving/read-table.ts';
import type { SourceItem } from '#lib/moving/source.ts';
import { csvLine } from '#lib/text/csv.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'accord-tables-'));
});
afterAll(() => rm(folder, { recursive: true }));

const examples = new URL('../../docs/examples/', import.meta.url);
const ofPersons = await readMapping(new URL('import-persons.yaml', examples).pathname);
const ofEvents = await readMapping(new URL('import-events.yaml', examples).pathname);

/** What a table becomes. */
async function read(content: string | Buffer, mapping: Mapping): Promise<SourceItem[]> {
  const file = path.join(folder, 'table.csv');
  await writeFile(file, content);
  const items: SourceItem[] = [];
  for await (const item of readMapped(file, mapping).items) items.push(item);
  return items;
}
const rowsOf = (items: readonly SourceItem[]) => items.flatMap((item) => ('row' in item ? [item.row] : []));
const faultsOf = (items: readonly SourceItem[]) =>
  items.flatMap((item) => ('fault' in item ? [`${item.place}: ${item.fault}`] : []));

const head = 'Customer;E-Mail;Newsletter;Profiling;Signed up;Form';
const person = (cells: string) => [head, cells, ''].join('\r\n');
const jane = '17;jane@example.org;yes;no;03.05.2024 09:30;https://shop.example/f/7';

describe('a table with a row for each person and a column for each question', () => {
  it('becomes a row for each answer', async () => {
    const items = await read(person(jane), ofPersons);
    const common = {
      subject: 'jane@example.org',
      given: '2024-05-03T07:30:00Z',
      serial: '1.0',
      validity: 'P2Y',
      source: 'Shop 4.1',
      evidence: { kind: 'URL', value: 'https://shop.example/f/7' },
    };
    expect(rowsOf(items)).toEqual([
      {
        ...common,
        element: 'processing.001',
        answer: ['accepted'],
        sourceId: '17/Newsletter/2024-05-03T07:30:00Z',
      },
      {
        ...common,
        element: 'processing.002',
        answer: ['refused'],
        sourceId: '17/Profiling/2024-05-03T07:30:00Z',
      },
    ]);
  });

  it.each([
    ['UTF-8 with a byte order mark', Buffer.from(`\uFEFF${person(jane)}`)],
    ['UTF-16', Buffer.from(`\uFEFF${person(jane)}`, 'utf16le')],
    ['commas', person(jane).replaceAll(';', ',')],
    ['tabs', person(jane).replaceAll(';', '\t')],
    ['quotes and line breaks in cells', person(jane).replace('yes', '"YES"')],
  ])('is read with %s', async (_, content) => {
    expect(rowsOf(await read(content, ofPersons))).toHaveLength(2);
  });

  it('is read as Windows-1252 if the mapping says so', async () => {
    const content = Buffer.from(person(jane.replace('jane', 'zoë')), 'latin1');
    const items = await read(content, { ...ofPersons, encoding: 'windows-1252' });
    expect(rowsOf(items)[0]).toMatchObject({ subject: 'zoë@example.org' });
  });

  it('names the line and the column of each fault, and reads on', async () => {
    const lines = [
      '1;a@example.org;yes;no;31.02.2024 10:00;',
      '2;;yes;no;03.05.2024 10:00;',
      '3;c@example.org;perhaps;no;03.05.2024 10:00;',
      '4;d@example.org;yes;no',
      '5;e@example.org;;;03.05.2024 10:00;',
    ];
    const items = await read([head, ...lines].join('\n'), ofPersons);
    expect(faultsOf(items)).toEqual([
      'table.csv, line 2, column Signed up: "31.02.2024 10:00" is no time that exists as dd.MM.yyyy HH:mm',
      'table.csv, line 3, column E-Mail: is empty',
      'table.csv, line 4, column Newsletter: "perhaps" is none of the words of the mapping',
      'table.csv, line 5, column Signed up: is not there',
    ]);
    expect(rowsOf(items)).toMatchObject([{ subject: 'c@example.org', element: 'processing.002' }]);
  });

  it('names the line also where empty ones are above it', async () => {
    const items = await read([head, '', '', '1;;yes;no;03.05.2024 10:00;'].join('\r\n'), ofPersons);
    expect(faultsOf(items)).toEqual(['table.csv, line 4, column E-Mail: is empty']);
    expect(items[0]?.original?.text).toBe('1;;yes;no;03.05.2024 10:00;');
  });

  it('names a cell with bytes of another encoding', async () => {
    const content = Buffer.concat([
      Buffer.from(`${head}\n${jane}\n18;zo`),
      Buffer.of(0xeb),
      Buffer.from('@example.org;yes;no;03.05.2024 10:00;\n'),
    ]);
    const items = await read(content, ofPersons);
    expect(rowsOf(items)).toHaveLength(2);
    expect(faultsOf(items)).toEqual([expect.stringMatching(/^table\.csv, line 3, column E-Mail: has bytes/)]);
  });

  it('takes the sign away with which an export marks what is no formula', async () => {
    const items = await read(person(jane.replace('jane@example.org', "'+33 1 23 45")), ofPersons);
    expect(rowsOf(items)[0]).toMatchObject({ subject: '+33 1 23 45' });
  });
});

describe('a table with a row for each event', () => {
  const events = 'id,contact,purpose,action,when,zone';
  const event = (cells: string) => `${events}\n${cells}\n`;

  it('becomes a row for each event, each in its time zone', async () => {
    const content = event(
      [
        'e1,+33 6 12 34,sms,opt-in,2024-05-03 09:30:00,Europe/Paris',
        'e2,+33 6 12 34,sms,opt-out,2024-06-01 09:30:00,America/New_York',
      ].join('\n'),
    );
    expect(rowsOf(await read(content, ofEvents))).toMatchObject([
      { answer: ['accepted'], given: '2024-05-03T07:30:00Z', sourceId: 'e1/2024-05-03T07:30:00Z' },
      { answer: ['refused'], given: '2024-06-01T13:30:00Z', sourceId: 'e2/2024-06-01T13:30:00Z' },
    ]);
  });

  it('leaves out what the mapping leaves out, and names an unknown purpose', async () => {
    const content = event(
      [
        'e1,a,internal,opt-in,2024-05-03 09:30:00,Europe/Paris',
        'e2,a,fax,opt-in,2024-05-03 09:30:00,Europe/Paris',
      ].join('\n'),
    );
    const items = await read(content, ofEvents);
    expect(rowsOf(items)).toEqual([]);
    expect(faultsOf(items)).toEqual([
      'table.csv, line 3, column purpose: "fax" is none of the words of the mapping',
    ]);
  });
});

describe('a quote', () => {
  it('is where it may be in every table that Accord writes, and in no line with one more in a cell', () => {
    const cells = fc.array(fc.string(), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(cells, (row) => {
        const line = csvLine(row).slice(0, -2);
        expect(strayQuote(line, ',')).toBeUndefined();
        expect(strayQuote(`${line},a"b`, ',')).toBe(row.length);
      }),
    );
  });
});

describe('a quote that is never closed', () => {
  const events = 'id,contact,purpose,action,when,zone';
  const rest = ',sms,opt-in,2024-05-03 09:30:00,Europe/Paris';

  it('stops the table at its line, and loses no line before or behind it', async () => {
    const contact = fc.stringMatching(/^[a-zé,\n"' ]{1,12}$/).filter((text) => text.trim() !== '');
    const ends = fc.constantFrom('\n', '\r\n');
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
    const lines = fc.array(fc.stringMatching(/^[a-zé,' ]{0,12}$/), { maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(fc.array(contact, { maxLength: 5 }), lines, ends, async (contacts, behind, end) => {
        const good = contacts.map((text, place) => `${place},${quoted(text)}${rest}`);
        const open = [`x,"open${rest}`, ...behind];
        const items = await read([events, ...good, ...open].join(end), ofEvents);
        expect(rowsOf(items).map(({ subject }) => subject)).toEqual(contacts.map((text) => text.trim()));
        const unread = items.slice(good.length);
        // A file has no line behind its last line break.
        const written = open.at(-1) === '' ? open.slice(0, -1) : open;
        expect(unread.map(({ original }) => original?.text)).toEqual(written);
        const line = [events, ...good].join('\n').split('\n').length + 1;
        expect(faultsOf(unread)[0]).toBe(
          `table.csv, line ${line}, column contact: opens a quote that is never closed; nothing is read from line ${line} on`,
        );
        expect(unread.map((item) => 'isTold' in item && item.isTold)).toEqual(
          written.map((_, place) => place === 0),
        );
      }),
    );
  });

  it('is named by its own line, behind a cell of several lines', async () => {
    const items = await read(`${events}\n1,"two\nlines","open${rest}\nmore`, ofEvents);
    expect(faultsOf(items)[0]).toMatch(
      /^table\.csv, line 3, column purpose: .*; nothing is read from line 2 on$/,
    );
    expect(items.map(({ original }) => original?.text)).toEqual(['1,"two', `lines","open${rest}`, 'more']);
  });

  it('stops the table also where more follows than a line may have', async () => {
    const behind = Array.from({ length: 60_000 }, (_, number) => `${number},b${rest}`);
    const items = await read([events, `0,a${rest}`, `1,"b${rest}`, ...behind].join('\n'), ofEvents);
    expect(rowsOf(items)).toHaveLength(1);
    expect(items).toHaveLength(2 + behind.length);
    expect(items.at(-1)?.original?.text).toBe(behind.at(-1));
  });
});

describe('a mapping', () => {
  it('with faults is refused, and each is named', async () => {
    const file = path.join(folder, 'mapping.yaml');
    await writeFile(
      file,
      'source: Shop\nsubject: mail\nid: id\nserparator: ";"\ntime: { column: when, zone: Europe/Atlantis }\ncolumns: { a: { element: x } }\n',
    );
    await expect(readMapping(file)).rejects.toThrow(
      /serparator: is not known\n.*time\.zone: must be a time zone.*\n.*columns\.a: must have an element and a serial/,
    );
    await writeFile(file, Buffer.from('source: Shop\nsubject: pr\xe9nom\n', 'latin1'));
    await expect(readMapping(file)).rejects.toThrow(/mapping\.yaml, line 2: has bytes that are not UTF-8\.$/);
  });
});
