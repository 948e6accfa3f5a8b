import { type FolderFiles, type Json, linesOf } from './folder-files.ts';

/** What a line of `records.ndjson` is, for the table of docs/evidence.md. */
function kindOf(line: Json): string {
  if ('jws' in line) return line.kind === 'WITHDRAWAL' ? 'withdrawal' : 'receipt';
  if ('erased' in line) return 'erased';
  return (line.imported as Json | undefined)?.verified === true ? 'imported with a receipt' : 'without proof';
}

/**
 * The members of lines that changes concern, by their names ({@link FolderChange}): `<kind>: <member>`,
 * once each. Names of other changes stay as they are.
 */
export function membersOf(names: readonly string[], files: FolderFiles): string[] {
  const members = names.map((name) => {
    const [, file = '', number, path = name] =
      /^(records|models)\.ndjson, line (\d+):.* (\/\S*)/.exec(name) ??
      /^(records|models)\.ndjson, lines (\d+) and \d+: (\w+) exchanged/.exec(name) ??
      [];
    if (file === '') return name;
    const line = JSON.parse(linesOf(files[`${file}.ndjson`] ?? '')[Number(number) - 1] ?? '{}') as Json;
    const kind = file === 'models' ? 'model' : kindOf(line);
    if (kind === 'without proof') return kind;
    const shown = path.replaceAll(/\/\d+/g, '').replace(/^\/(context|followers|notices)\/.*/, '/$1');
    return `${kind}: ${shown.replace(/^\//, '')}`;
  });
  return [...new Set(members)].sort();
}

const ofReceipt = /^(transaction|state|kind|subject|jws)$/;
const ofRecord = /^(element|answers|state|origin|author|object|committed|expires)$/;

function only(value: Json, pattern: RegExp): Json {
  return Object.fromEntries(Object.entries(value).filter(([name]) => pattern.test(name)));
}

/** What is proved of the transactions and models of a folder. */
export function provedOf(files: FolderFiles): unknown {
  const records = linesOf(files['records.ndjson'] ?? '').flatMap((text) => {
    const line = JSON.parse(text) as Json & { records: Json[] };
    if ('erased' in line) return [only(line, /^(transaction|state|erased)$/)];
    if (!('jws' in line)) return [];
    const members = line.kind === 'WITHDRAWAL' ? /^withdraws$/ : /^information$/;
    const known = line.records.map((record) => ({ ...only(record, ofRecord), ...only(record, members) }));
    return [{ ...only(line, ofReceipt), records: known }];
  });
  const shown = ['information.001/1.0', 'processing.001/1.0', 'processing.002/1.0'];
  const models = linesOf(files['models.ndjson'] ?? '').flatMap((text) => {
    const { key, type, versions } = JSON.parse(text) as Json & { versions: Json[] };
    return versions.flatMap(({ serial, data }) =>
      shown.includes(`${key}/${serial}`) ? [{ key, type, serial, texts: (data as Json).en }] : [],
    );
  });
  return { records, models };
}
