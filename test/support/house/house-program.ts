import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

// `npm run house` prints the size of the house, and fails if a product file has more than 300 lines.
// The order of folders and rooms is checked beside it (.dependency-cruiser.js).

const root = path.join(import.meta.dirname, '..', '..', '..');
const maxLines = 300;
const room = 'services/transactions';

/** What a request, an event or a job of the transactions service begins with. */
const acts: Readonly<Record<string, string>> = {
  submit: 'answer/submit.ts',
  'confirm with a code': 'answer/confirm-code.ts',
  withdraw: 'withdrawal/withdraw.ts',
  erase: 'erasure/erase.ts',
  'accept a part': 'received-parts/accept.ts',
  'withdraw a part': 'received-parts/withdraw.ts',
  'follow a verdict': 'verdicts/follow-verdicts.ts',
};

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file && !file.includes('.gen.'));
const matching = (pattern: RegExp) => files.filter((file) => pattern.test(file));
const read = (file: string) => readFileSync(path.join(root, file), 'utf8');
const linesOf = (file: string) => read(file).split('\n').length - 1;
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);
/** Words outside tables and examples. */
const wordsOf = (file: string) =>
  read(file)
    .replace(/^```.*?^```/gms, '')
    .split('\n')
    .filter((line) => !line.startsWith('|'))
    .join(' ')
    .split(/\s+/)
    .filter(Boolean).length;

/** The files that a file imports, directly and through others, in the same service. */
function importsOf(file: string, found = new Set<string>()): Set<string> {
  if (found.has(file)) return found;
  found.add(file);
  for (const { fileName } of ts.preProcessFile(read(file)).importedFiles)
    if (fileName.startsWith('.')) importsOf(path.join(path.dirname(file), fileName), found);
  return found;
}

const product = matching(/^(lib|services)\/.*\.(ts|js)$/);
const prose = matching(/\.md$/).filter((file) => !/^bench\/results|CHANGELOG\.md$/.test(file));
const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> };
const rows: [string, string | number][] = [
  ['product lines (TypeScript, JavaScript)', sum(product.map(linesOf))],
  [`lines of ${room}`, sum(matching(/^services\/transactions\/.*\.ts$/).map(linesOf))],
  ...Object.entries(acts).map(([act, file]): [string, string] => {
    const used = [...importsOf(`${room}/${file}`)];
    return [`${act}: files, lines`, `${used.length}, ${sum(used.map(linesOf))}`];
  }),
  [
    'casts that the compiler cannot check',
    sum(product.map((file) => read(file).split('biome-ignore lint/plugin').length - 1)),
  ],
  ['SQL files', matching(/^(lib|services)\/.*\.sql$/).length],
  ['scripts in package.json', Object.keys(scripts).length],
  ['words of documentation outside tables and examples', sum(prose.map(wordsOf))],
  ['pieces of openapi.yaml', matching(/^contract\/.*\.yaml$/).length],
];
const width = Math.max(...rows.map(([name]) => name.length));
for (const [name, figure] of rows) console.log(`${name.padEnd(width)}  ${figure.toLocaleString('en')}`);

const long = product.filter((file) => linesOf(file) > maxLines);
for (const file of long) console.error(`${file} has more than ${maxLines} lines`);
if (long.length > 0) process.exitCode = 1;
