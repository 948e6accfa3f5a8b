import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

// Part of `npm run lint`: fails if a comment is wider than the formatter's lines, or if code outwits the
// formatter: the formatter breaks no comments, and has no rule against either idiom.

const root = path.join(import.meta.dirname, '..', '..', '..');
const { formatter } = JSON.parse(readFileSync(path.join(root, 'biome.json'), 'utf8'));
const maxWidth: number = formatter.lineWidth;

const rules: { what: string; breaks(line: string): boolean }[] = [
  {
    what: `a comment has more than ${maxWidth} characters`,
    breaks: (line) => /^\s*(\/\/(?! biome-ignore)|\/\*\*|\*)/.test(line) && line.length > maxWidth,
  },
  {
    what: 'code is kept from the formatter',
    breaks: (line) => /\bbiome-ignore(-start)? format\b/.test(line),
  },
  { what: 'an object literal is spread', breaks: (line) => /(?<!['"`])\.\.\.\{ ?\w/.test(line) },
];

const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard', '*.ts'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file && !file.endsWith('.gen.ts') && file !== path.relative(root, import.meta.filename));

const faults = files.flatMap((file) =>
  readFileSync(path.join(root, file), 'utf8')
    .split('\n')
    .flatMap((line, index) =>
      rules.filter(({ breaks }) => breaks(line)).map(({ what }) => `${file}:${index + 1}: ${what}`),
    ),
);
for (const fault of faults) console.error(fault);
if (faults.length > 0) process.exitCode = 1;
