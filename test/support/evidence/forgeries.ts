import type { SealedLine } from '#lib/audit/leaf.ts';
import type { PageStatement } from '#lib/evidence/signed-page.ts';
import { blank, type FolderChange } from './folder-changes.ts';
import { type FolderFiles, type Json, linesOf, textOf, write } from './folder-files.ts';

type Changes = Generator<FolderChange>;

const logs = ['audit-auth.ndjson', 'audit-consents.ndjson', 'audit-forms.ndjson'];
const receiptFile = 'records.ndjson';
const pageFile = 'signatures.ndjson';
const mappingFile = 'access-mappings.ndjson';
const lists = [...logs, 'checkpoints.ndjson', 'models.ndjson', mappingFile, receiptFile, pageFile];

const objectsOf = (files: FolderFiles, file: string) =>
  linesOf(files[file] ?? '').map((line) => JSON.parse(line) as Json);
const withObjects = (files: FolderFiles, file: string, objects: readonly Json[]): FolderFiles => ({
  ...files,
  [file]: textOf(objects.map(write)),
});
const renumbered = (lines: readonly Json[]) => lines.map((line, seq) => ({ ...line, seq }));
const moved = <T>(items: readonly T[], from: number, to: number) =>
  items.toSpliced(from, 1).toSpliced(to, 0, items[from] as T);

/** Two lines exchange the values of one member. */
function* exchangedMembers(files: FolderFiles): Changes {
  for (const file of lists) {
    const objects = objectsOf(files, file);
    for (const [at, one] of objects.entries()) {
      const next = objects[at + 1];
      for (const member of Object.keys(one)) {
        if (next?.[member] === undefined || next[member] === one[member] || at % 5 > 0) continue;
        const changed = objects.with(at, { ...one, [member]: next[member] });
        yield {
          name: `${file}, lines ${at + 1} and ${at + 2}: ${member} exchanged`,
          files: withObjects(files, file, changed.with(at + 1, { ...next, [member]: one[member] })),
        };
      }
    }
  }
}

/** Lines are removed and moved, together with their receipts, and numbered again. */
function* renumberedLogs(files: FolderFiles): Changes {
  for (const file of logs) {
    const lines = objectsOf(files, file);
    const receipts = objectsOf(files, receiptFile);
    const isReceipt = (line: Json | undefined) => line?.action === 'receipt.signed';
    for (const [at, line] of lines.entries()) {
      const place = lines.slice(0, at).filter(isReceipt).length;
      const removed = withObjects(files, file, renumbered(lines.toSpliced(at, 1)));
      const others = isReceipt(line) ? receipts.toSpliced(place, 1) : receipts;
      yield {
        name: `${file}: line ${at + 1} removed without a gap`,
        files: withObjects(removed, receiptFile, others),
      };
      if (at === 0) continue;
      const swaps = isReceipt(line) && isReceipt(lines[at - 1]);
      const exchanged = withObjects(files, file, renumbered(moved(lines, at, at - 1)));
      yield {
        name: `${file}: line ${at + 1} before the one before`,
        files: withObjects(exchanged, receiptFile, swaps ? moved(receipts, place, place - 1) : receipts),
      };
    }
  }
}

/** The folder of an earlier time, except for one of its parts. */
function* mixedTimes(files: FolderFiles): Changes {
  const checkpoints = objectsOf(files, 'checkpoints.ndjson') as { logs: Record<string, { size: number }> }[];
  for (let newer = 1; newer < checkpoints.length; newer += 1) {
    const heads = checkpoints[newer]?.logs ?? {};
    const older = withObjects(files, 'checkpoints.ndjson', checkpoints.slice(newer) as unknown as Json[]);
    yield { name: `without the newest ${newer} checkpoints, with all lines`, files: older };
    for (const file of logs) {
      const size = heads[file.slice('audit-'.length, -'.ndjson'.length)]?.size;
      const lines = objectsOf(files, file).slice(0, size);
      const name = `${file} of ${newer} checkpoints ago`;
      yield { name, files: withObjects(files, file, lines) };
      yield { name: `${name}, without the newest checkpoints`, files: withObjects(older, file, lines) };
    }
  }
}

interface Parts {
  head: string;
  payload: string;
  signature: string;
}
const partsOf = (jws: unknown): Parts => {
  const [head = '', payload = '', signature = ''] = String(jws).split('.');
  return { head, payload, signature };
};
const encode = (bytes: string | Buffer) => Buffer.from(bytes).toString('base64url');
/** The order of P-256. */
const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n;
const number32 = (value: bigint) => Buffer.from(value.toString(16).padStart(64, '0'), 'hex');

/** Other signatures: for ECDSA the one with n - s is valid too. */
function otherSignatures(signature: string): Record<string, string> {
  const bytes = Buffer.from(signature, 'base64url');
  const [r, s] = [bytes.subarray(0, 32), bytes.subarray(32)];
  const value = BigInt(`0x${s.toString('hex')}`);
  return {
    'n - s': encode(Buffer.concat([r, number32(order - value)])),
    's and r': encode(Buffer.concat([s, r])),
    zeros: encode(Buffer.alloc(64)),
    's = n': encode(Buffer.concat([r, number32(order)])),
    'a byte more': encode(Buffer.concat([bytes, Buffer.alloc(1)])),
    'a byte less': encode(bytes.subarray(1)),
    base64: bytes.toString('base64'),
    DER: encode(Buffer.concat([Buffer.from([0x30, 68, 2, 32]), r, Buffer.from([2, 32]), s])),
  };
}

/** Signed texts whose parts are those of others, or whose claims are others. */
function* otherSignedTexts(files: FolderFiles): Changes {
  const places = ['checkpoints.ndjson', receiptFile, pageFile].flatMap((file) =>
    objectsOf(files, file).flatMap((value, at) => (at < 2 && value.jws ? [{ file, at, value }] : [])),
  );
  for (const { file, at, value } of places) {
    const own = partsOf(value.jws);
    const forge = (name: string, parts: Partial<Parts>, members: Json = {}): FolderChange => {
      const { head, payload, signature } = { ...own, ...parts };
      const forged = { ...value, ...members, jws: `${head}.${payload}.${signature}` };
      return {
        name: `${file}, line ${at + 1}: with ${name}`,
        files: withObjects(files, file, objectsOf(files, file).with(at, forged)),
      };
    };
    for (const other of places) {
      const theirs = partsOf(other.value.jws);
      for (const part of ['head', 'payload', 'signature'] as const)
        yield forge(`the ${part} of ${other.file}, line ${other.at + 1}`, { [part]: theirs[part] });
    }
    const claims = JSON.parse(Buffer.from(own.payload, 'base64url').toString()) as Json;
    for (const claim of Object.keys(claims)) {
      const { [claim]: _, ...rest } = claims;
      // What the line shows of a claim is changed alike.
      const shown = claim in value ? { [claim]: {} } : {};
      yield forge(`the claim ${claim} empty`, { payload: encode(write({ ...claims, [claim]: {} })) }, shown);
      yield forge(`the claim ${claim} left out`, { payload: encode(write(rest)) });
    }
    yield forge('a claim more', { payload: encode(write({ ...claims, more: 1 })) });
    for (const [name, signature] of Object.entries(otherSignatures(own.signature)))
      yield forge(`the signature ${name}`, { signature });
  }
}

/** Pages that are left out, repeated or exchanged, with their lines. */
function* otherPages(files: FolderFiles): Changes {
  const signatures = objectsOf(files, pageFile);
  const claims = signatures.map(
    ({ jws }) => JSON.parse(Buffer.from(partsOf(jws).payload, 'base64url').toString()) as PageStatement,
  );
  const fileOf = ({ part }: PageStatement) =>
    part === 'models' ? 'models.ndjson' : part === 'mappings' ? mappingFile : receiptFile;
  /** The folder with these pages, each with its lines. */
  const folderOf = (pages: readonly number[]): FolderFiles => {
    const lines: Record<string, string[]> = { 'models.ndjson': [], [mappingFile]: [], [receiptFile]: [] };
    for (const page of pages) {
      const claim = claims[page] as PageStatement;
      const file = fileOf(claim);
      const before = claims.slice(0, page).filter((each) => fileOf(each) === file);
      const start = before.reduce((sum, each) => sum + each.lines, 0);
      lines[file]?.push(...linesOf(files[file] ?? '').slice(start, start + claim.lines));
    }
    const texts = Object.fromEntries(Object.entries(lines).map(([file, all]) => [file, textOf(all)]));
    return { ...files, ...texts, [pageFile]: textOf(pages.map((page) => write(signatures[page]))) };
  };
  const all = [...claims.keys()];
  for (const page of all) {
    const name = `page ${page + 1} of ${all.length}`;
    yield { name: `without ${name}`, files: folderOf(all.toSpliced(page, 1)) };
    yield { name: `with ${name} twice`, files: folderOf(all.toSpliced(page, 0, page)) };
    yield { name: `with ${name} at the end`, files: folderOf(moved(all, page, all.length - 1)) };
    if (page > 0) yield { name: `with ${name} earlier`, files: folderOf(moved(all, page, page - 1)) };
    yield { name: `without ${name} and what follows`, files: folderOf(all.slice(0, page)) };
  }
}

/** Receipts and erasures in each other's place, and digests in other forms. */
function* otherReceipts(files: FolderFiles): Changes {
  const receipts = objectsOf(files, receiptFile);
  const signed = receipts.find(({ jws }) => jws) as Json;
  for (const [at, receipt] of receipts.entries()) {
    const digest = (receipt.erased as { sha256: string } | undefined)?.sha256;
    const change = (name: string, members: Json): FolderChange => {
      const { jws: _signed, erased: _erased, ...rest } = receipt;
      const changed = { ...rest, ...members };
      return {
        name: `${receiptFile}, line ${at + 1}: ${name}`,
        files: withObjects(files, receiptFile, receipts.with(at, changed)),
      };
    };
    yield change('erased with another digest', { erased: { sha256: encode(Buffer.alloc(32, at)) } });
    if (digest === undefined) continue;
    const bytes = Buffer.from(digest, 'base64url');
    yield change('not erased, with the text of another', { jws: signed.jws });
    yield change('erased and signed', { erased: { sha256: digest }, jws: signed.jws });
    for (const sha256 of [`${digest}=`, bytes.toString('hex'), bytes.toString('base64'), ` ${digest}`])
      if (sha256 !== digest) yield change(`with the digest ${sha256.length} long`, { erased: { sha256 } });
  }
}

/** Lines blanked that are not the oldest, blanked lines in other forms, and made up again. */
function* otherBlankedLines(files: FolderFiles): Changes {
  for (const file of logs) {
    const lines = objectsOf(files, file);
    const oldest = lines.findIndex(({ leaf }) => leaf === undefined);
    for (let at = oldest + 1; at < lines.length; at += 3)
      yield { name: `${file}: line ${at + 1} blanked`, files: blank(files, file, (index) => index === at) };
    const { leaf, ...first } = lines[0] as Json & { leaf?: string };
    if (leaf === undefined) continue;
    const madeUp = { ...(lines[oldest] as unknown as SealedLine), ...first };
    for (const [name, changed] of Object.entries<Json>({
      'made up again': madeUp,
      'with its leaf in capitals': { ...first, leaf: leaf.toUpperCase() },
      'with the leaf of another': { ...first, leaf: lines[1]?.leaf },
      'with a time of another form': { ...first, leaf, at: String(first.at).replace('.000Z', 'Z') },
      'with a time of another zone': { ...first, leaf, at: String(first.at).replace('Z', '+00:00') },
      'with its id in capitals': { ...first, leaf, id: `${String(first.id).slice(0, -1)}A` },
      'with a target': { ...first, leaf, target: 'x' },
      'with the leaf and the line': { ...madeUp, leaf },
    }))
      yield { name: `${file}: line 1 ${name}`, files: withObjects(files, file, lines.with(0, changed)) };
  }
}

const wordsOf: Record<string, (line: string) => string> = {
  'a number with a fraction': (line) => line.replace(/":(\d+)/, '":$1.0'),
  'a number with an exponent': (line) => line.replace(/":(\d+)/, '":$1e0'),
  'a number as a text': (line) => line.replace(/":(\d+)/, '":"$1"'),
  'a negative zero': (line) => line.replace('":0,', '":-0,'),
  'a look-alike letter': (line) => line.replace(/:"([^"]*)e/, ':"$1\u0435'),
  'an invisible character': (line) => line.replace(/:"/, ':"\u200b'),
  'a combining mark': (line) => line.replace(/:"(\w)/, ':"$1\u0301'),
  'a capital': (line) => line.replace(/:"([a-z])/, (_, letter: string) => `:"${letter.toUpperCase()}`),
  'a blank in a text': (line) => line.replace(/:"/, ':" '),
  'a lone surrogate': (line) => line.replace(/:"/, ':"\\ud800'),
  'an escaped slash': (line) => line.replace('/', '\\/'),
  'an escaped digit': (line) => line.replace(/(:"[^"]*)(\d)/, '$1\\u003$2'),
  'a tab': (line) => line.replace(',', ',\t'),
  'a comment': (line) => line.replace(/}$/, '/**/}'),
  'a comma more': (line) => line.replace(/}$/, ',}'),
  'a member of its prototype': (line) => line.replace('{', '{"__proto__":{},'),
  'a list around it': (line) => `[${line}]`,
  'a text around it': (line) => JSON.stringify(line),
  'an object around it': (line) => `{"line":${line}}`,
  'a line feed in it': (line) => line.replace(',', ',\n'),
  'another object beside it': (line) => `${line} {}`,
  base64: (line) => Buffer.from(line).toString('base64'),
};

/** A line that is written in another way, or nearly the same. */
function* otherWords(files: FolderFiles): Changes {
  for (const file of [...lists, 'keys.json']) {
    const lines = linesOf(files[file] ?? '');
    for (const [name, edit] of Object.entries(wordsOf))
      for (const at of new Set([0, lines.length - 1]))
        yield {
          name: `${file}, line ${at + 1}: ${name}`,
          files: { ...files, [file]: textOf(lines.with(at, edit(lines[at] ?? ''))) },
        };
    const text = files[file] ?? '';
    for (const separator of ['\r', '\u2028', '\0', '\n\n', '\n \n'])
      yield {
        name: `${file}: divided by ${JSON.stringify(separator)}`,
        files: { ...files, [file]: text.replaceAll('\n', separator) },
      };
  }
}

/** Files whose names are exchanged, or nearly right. */
function* otherNames(files: FolderFiles): Changes {
  const names = Object.keys(files);
  for (const [index, one] of names.entries()) {
    const { [one]: text = '', ...others } = files;
    for (const other of names.slice(index + 1))
      yield {
        name: `${one} and ${other} exchanged`,
        files: { ...files, [one]: files[other] ?? '', [other]: text },
      };
    for (const name of [`${one} `, `${one}\n`, `${one}.`, ` ${one}`, one.replace('s', '\u0455'), `${one}~`])
      yield { name: `${one} under the name ${JSON.stringify(name)}`, files: { ...others, [name]: text } };
    yield { name: `${one} twice`, files: { ...files, [one.replace('.', '-.')]: text } };
  }
}

/** Keys and the name of the instance in other forms. */
function* otherKeys(files: FolderFiles): Changes {
  const { instance, keys } = JSON.parse(files['keys.json'] ?? '') as { instance: string; keys: Json[] };
  const [one = {}, other = {}] = keys;
  const change = (name: string, members: Json): FolderChange => ({
    name: `keys.json: ${name}`,
    files: { ...files, 'keys.json': `${write({ instance, keys, ...members })}\n` },
  });
  yield change('in another order', { keys: keys.toReversed() });
  yield change('a key twice', { keys: [one, one, other] });
  yield change('as an object', { keys: { 0: one, 1: other } });
  yield change('with the kid exchanged', {
    keys: [
      { ...one, kid: other.kid },
      { ...other, kid: one.kid },
    ],
  });
  for (const members of [
    { x: one.y, y: one.x },
    { x: other.x },
    { x: `${one.x}=` },
    { crv: 'P-384' },
    { alg: 'ES384' },
    { use: 'enc' },
    { d: one.x },
    { key_ops: ['verify'] },
  ])
    yield change(`with ${Object.keys(members)} of another form`, { keys: [{ ...one, ...members }, other] });
  for (const name of [
    `${instance}/`,
    `${instance}:443`,
    instance.replace('https', 'http'),
    instance.toUpperCase(),
  ])
    yield change(`of ${name}`, { instance: name });
}

/**
 * Changes of a folder by those who know its format: the files stay what an export could have written, except
 * for what is forged.
 */
export function* forgeriesOf(files: FolderFiles): Changes {
  yield* exchangedMembers(files);
  yield* renumberedLogs(files);
  yield* mixedTimes(files);
  yield* otherSignedTexts(files);
  yield* otherPages(files);
  yield* otherReceipts(files);
  yield* otherBlankedLines(files);
  yield* otherWords(files);
  yield* otherNames(files);
  yield* otherKeys(files);
}
