import { spawnSync } from 'node:child_process';

// `npm run lint`: what the formatter and the compiler do not see. Every check prints its own faults.

const checks: [program: string, ...options: string[]][] = [
  ['node', 'contract/bundle-program.ts', '--check'],
  ['node', 'test/support/contract/check-citations-program.ts'],
  ['node', 'test/support/contract/check-comments-program.ts'],
  ['node', 'test/support/words/check-words-program.ts'],
  ['redocly', 'lint', 'openapi.yaml'],
  ['redocly', 'lint', 'asyncapi.yaml', '--config', 'redocly-events.yaml'],
  ['node', 'test/support/helm/check-values-program.ts'],
  ['node', 'test/support/house/house-program.ts'],
];
const env = { ...process.env, REDOCLY_TELEMETRY: 'off', REDOCLY_SUPPRESS_UPDATE_NOTICE: 'true' };

for (const [program, ...options] of checks)
  if (spawnSync(program, options, { stdio: 'inherit', env }).status !== 0) {
    console.error(`failed: ${[program, ...options].join(' ')}`);
    process.exitCode = 1;
  }

// Marks of a merge that was not finished.
if (spawnSync('git', ['grep', '-nE', '^(<<<<<<<|>>>>>>>) '], { stdio: 'inherit' }).status === 0)
  process.exitCode = 1;
