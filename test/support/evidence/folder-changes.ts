import { leafOf, type SealedLine } from '#lib/audit/leaf.ts';
import { type FolderFiles, type Json, linesOf, textOf, write } from './folder-files.ts';

/** A folder after one change, and what was changed. */
export interface FolderChange {
  name: string;
  files: FolderFiles;
}

/** Changes of the bytes and lines of every file. */
function* changesOfFile(files: FolderFiles, file: string): Generator<FolderChange> {
  const text = files[file] ?? '';
  const lines = linesOf(text);
  const middle = Math.floor(lines.length / 2);
  const change = (name: string, changed: string): FolderChange => ({
    name: `${file}: ${name}`,
    files: { ...files, [file]: changed },
  });
  const { [file]: _, ...others } = files;
  yield { name: `${file}: deleted`, files: others };
  yield { name: `${file}: in capitals`, files: { ...others, [file.toUpperCase()]: text } };
  yield { name: `${file}: with another extension`, files: { ...others, [`${file}.bak`]: text } };
  yield change('empty', '');
  yield change('cut in a line in the middle', text.slice(0, text.lastIndexOf('\n', text.length / 2) + 5));
  yield change('without the end of its last line', text.slice(0, -20));
  yield change('without its last line feed', text.slice(0, -1));
  yield change('with an empty line at the end', `${text}\n`);
  yield change('with a blank at the end', `${text} `);
  yield change('with a NUL at the end', `${text}\0`);
  yield change('with CRLF', text.replaceAll('\n', '\r\n'));
  yield change('with a byte order mark', `\ufeff${text}`);
  yield change('with a blank at the beginning', ` ${text}`);
  yield change('twice', text + text);
  yield change('with its first line twice', textOf([lines[0] ?? '', ...lines]));
  yield change('with its last line twice', textOf([...lines, lines.at(-1) ?? '']));
  yield change('with an empty object at the end', `${text}{}\n`);
  yield change('with a list at the end', `${text}[]\n`);
  yield change('deeply nested', `${text}${'['.repeat(50_000)}\n`);
  yield change('without its first line', textOf(lines.slice(1)));
  if (lines.length < 3) return;
  yield change('without its last line', textOf(lines.slice(0, -1)));
  yield change('without its last two lines', textOf(lines.slice(0, -2)));
  yield change('without a line in the middle', textOf(lines.toSpliced(middle, 1)));
  yield change('in reverse', textOf(lines.toReversed()));
  yield change('with its first line at the end', textOf([...lines.slice(1), lines[0] ?? '']));
  yield change(
    'with two lines exchanged',
    textOf(lines.toSpliced(middle - 1, 2, lines[middle] ?? '', lines[middle - 1] ?? '')),
  );
  yield change('with its middle line twice', textOf(lines.toSpliced(middle, 0, lines[middle] ?? '')));
}

/** Another value of the same kind. */
function altered(value: unknown): unknown {
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'string') return alteredText(value);
  if (Array.isArray(value)) return [...value, 'x'];
  if (typeof value === 'object' && value !== null) return { ...value, x: 1 };
  return 'x';
}

/** A text of the same form: the last letter or digit is another one. */
function alteredText(text: string): string {
  const at = text.search(/[0-9a-z][^0-9a-z]*$/);
  const next = text[at] === '1' ? '2' : '1';
  return at < 0 ? `${text}x` : `${text.slice(0, at)}${next}${text.slice(at + 1)}`;
}

/** Each member of an object, and of the objects in it, with other values. */
function* changesOfMembers(value: Json, path = ''): Generator<[name: string, changed: Json]> {
  for (const [member, inner] of Object.entries(value)) {
    const name = `${path}/${member}`;
    const { [member]: _, ...rest } = value;
    yield [`without ${name}`, rest];
    yield [`with another ${name}`, { ...value, [member]: altered(inner) }];
    yield [`with ${name} null`, { ...value, [member]: null }];
    yield [`with ${name} as a list`, { ...value, [member]: [inner] }];
    const isObject = typeof inner === 'object' && inner !== null && !Array.isArray(inner);
    if (isObject)
      for (const [deeper, changed] of changesOfMembers(inner as Json, name))
        yield [deeper, { ...value, [member]: changed }];
    if (Array.isArray(inner))
      for (const [index, each] of inner.entries())
        if (typeof each === 'object' && each !== null)
          for (const [deeper, changed] of changesOfMembers(each as Json, `${name}/${index}`))
            yield [deeper, { ...value, [member]: inner.with(index, changed) }];
  }
  yield [`with a member more in ${path || 'it'}`, { ...value, more: true }];
}

/** Headers of a JWS that its signature does not allow. */
function* changesOfJws(value: Json): Generator<[name: string, changed: Json]> {
  if (typeof value.jws !== 'string') return;
  const [head = '', payload = '', signature = ''] = value.jws.split('.');
  const header = JSON.parse(Buffer.from(head, 'base64url').toString()) as Json;
  const encode = (text: string) => Buffer.from(text).toString('base64url');
  const withHeader = (changes: Json, end = signature) => ({
    ...value,
    jws: `${encode(JSON.stringify({ ...header, ...changes }))}.${payload}.${end}`,
  });
  yield ['unsigned', withHeader({ alg: 'none' }, '')];
  yield ['with an empty signature', { ...value, jws: `${head}.${payload}.` }];
  yield ['with HS256', withHeader({ alg: 'HS256' })];
  yield ['with an unknown kid', withHeader({ kid: 'A'.repeat(43) })];
  yield ['with another type', withHeader({ typ: 'JWT' })];
  yield ['with a critical extension', withHeader({ crit: ['x'], x: 1 })];
  yield ['with an embedded key', withHeader({ jwk: {} })];
  yield ['with two signatures', { ...value, jws: `${value.jws}.${signature}` }];
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  const last = letters[letters.indexOf(signature.at(-1) ?? '') + 1] ?? 'A';
  yield ['with the same signature in another text', { ...value, jws: `${value.jws.slice(0, -1)}${last}` }];
  yield ['with padding', { ...value, jws: `${value.jws}==` }];
}

/** A line is one of its file and members; of each kind the first and last are changed, or only the first. */
function kindsOf(lines: readonly string[], isLong: boolean): number[] {
  const found = new Map<string, number[]>();
  for (const [index, line] of lines.entries()) {
    const value = JSON.parse(line) as Json;
    const kind = Object.keys(value).join() + (value.action === 'receipt.signed' ? ' receipt' : '');
    const first = found.get(kind)?.[0] ?? index;
    found.set(kind, isLong ? [first] : [first, index]);
  }
  return [...new Set([...found.values()].flat())];
}

function* changesOfLines(files: FolderFiles, file: string): Generator<FolderChange> {
  const lines = linesOf(files[file] ?? '');
  const change = (at: number, name: string, line: string): FolderChange => ({
    name: `${file}, line ${at + 1}: ${name}`,
    files: { ...files, [file]: textOf(lines.with(at, line)) },
  });
  for (const at of kindsOf(lines, /^(models|records)/.test(file))) {
    const line = lines[at] ?? '';
    const value = JSON.parse(line) as Json;
    for (const [name, changed] of [...changesOfMembers(value), ...changesOfJws(value)])
      yield change(at, name, write(changed));
    const [member = '', inner] = Object.entries(value)[0] ?? [];
    yield change(at, 'with a member twice', `{${JSON.stringify(member)}:${write(inner)},${line.slice(1)}`);
    yield change(at, 'with a blank', line.replace('":', '": '));
    yield change(
      at,
      'with an escape',
      line.replace(/"([a-z])/, (_, letter: string) => `"\\u00${letter.charCodeAt(0).toString(16)}`),
    );
    yield change(
      at,
      'with its members in another order',
      JSON.stringify(Object.fromEntries(Object.entries(value).reverse())),
    );
  }
}

/** Lines of which only the hash is left, as the instance shows those that are older than its retention. */
export function blank(files: FolderFiles, file: string, which: (index: number) => boolean): FolderFiles {
  const lines = linesOf(files[file] ?? '').map((line, index) => {
    const value = JSON.parse(line) as SealedLine & { leaf?: string };
    if (value.leaf !== undefined || !which(index)) return line;
    return write({ seq: value.seq, id: value.id, at: value.at, leaf: leafOf(value).toString('hex') });
  });
  return { ...files, [file]: textOf(lines) };
}

function* changesOfLogs(files: FolderFiles): Generator<FolderChange> {
  const logs = Object.keys(files).filter((name) => name.startsWith('audit-'));
  for (const file of logs) {
    const count = linesOf(files[file] ?? '').length;
    yield {
      name: `${file}: its last line blanked`,
      files: blank(files, file, (index) => index === count - 1),
    };
    const others = logs.filter((name) => name !== file);
    for (const other of others)
      yield { name: `${file}: with the lines of ${other}`, files: { ...files, [file]: files[other] ?? '' } };
  }
  const name = 'records.ndjson';
  const receipts = linesOf(files[name] ?? '');
  for (const [at, line] of receipts.entries())
    yield {
      name: `${name}: line ${at + 1} is missing at the instance`,
      files: {
        ...files,
        [name]: textOf(
          receipts.with(at, write({ ...(JSON.parse(line) as Json), jws: undefined, erased: undefined })),
        ),
      },
    };
}

/** Further files. */
function* changesOfNames(files: FolderFiles): Generator<FolderChange> {
  for (const name of [
    'notes.txt',
    '.hidden',
    'audit-more.ndjson',
    'audit-.ndjson',
    'checkpoints2.ndjson',
    'records.json',
  ])
    yield { name: `with ${name}`, files: { ...files, [name]: '' } };
  for (const name of [
    'access-mappings.ndjson',
    'checkpoints.ndjson',
    'models.ndjson',
    'records.ndjson',
    'signatures.ndjson',
  ])
    yield {
      name: `audit-copy.ndjson with ${name}`,
      files: { ...files, 'audit-copy.ndjson': files[name] ?? '' },
    };
}

/** Changes of a folder that must be found whoever made it, in every file, line and member. */
export function* changesOf(files: FolderFiles): Generator<FolderChange> {
  for (const file of Object.keys(files)) {
    yield* changesOfFile(files, file);
    yield* changesOfLines(files, file);
  }
  yield* changesOfLogs(files);
  yield* changesOfNames(files);
}
