import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import path from 'node:path';
import type { Figure } from '../test/security/costs/figures.ts';

// What the worst input of every operation, of every page of the console and of the issuer costs in CPU time
// of the main thread: the figures of test/security/costs-of-*.test.ts, with all inputs if
// HOSTILE_TEXTS=all. Writes bench/results-costs.md.

/** More than one turn of the event loop may take on a quiet machine. */
const mostMs = 100;

const folder = mkdtempSync(path.join(tmpdir(), 'accord-costs-'));
const report = path.join(folder, 'figures.ndjson');
writeFileSync(report, '');
const root = path.join(import.meta.dirname, '..');
const { status } = spawnSync(
  process.execPath,
  [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--no-file-parallelism',
    'test/security/costs-of-',
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: 'inherit', env: { ...process.env, COSTS_REPORT: report } },
);

const figures = readFileSync(report, 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line) as Figure);
rmSync(folder, { recursive: true });

/** The dearest turn and the dearest request of each operation or page. */
const worst = [...Map.groupBy(figures, ({ request }) => request)]
  .map(([, of]) => {
    const longest = of.reduce((one, other) => (other.longest > one.longest ? other : one));
    return { ...longest, tried: of.length, most: Math.max(...of.map(({ total }) => total)) };
  })
  .sort((one, other) => other.longest - one.longest);

const cell = (text: string) => text.replaceAll('|', '\\|').replaceAll(/\s+/g, ' ').slice(0, 90);
const rows = worst.map(
  ({ request, input, status: answered, longest, most, tried }) =>
    `| ${longest > mostMs ? '**over** ' : ''}${cell(request)} | ${cell(input)} | ${answered} | ${tried} | ${most.toFixed(0)} | ${longest.toFixed(0)} |`,
);
writeFileSync(
  path.join(import.meta.dirname, 'results-costs.md'),
  `# CPU time of the worst requests

\`npm run bench -- costs\`, ${new Date().toISOString().slice(0, 10)}, ${cpus().length} × ${cpus()[0]?.model}, Node.js ${process.version}. Milliseconds of the main thread of
one process: of the dearest request, and of the longest turn of the event loop, in which no other request is answered. Other work on the machine
makes them longer, up to twice. ${worst.length} operations and pages, ${figures.length} inputs; over ${mostMs} ms: ${worst.filter(({ longest }) => longest > mostMs).length}.

| Request | Input with the longest turn | Status | Inputs | CPU ms | Longest turn, ms |
|---|---|---|---:|---:|---:|
${rows.join('\n')}
`,
);
process.exitCode = status ?? 1;
