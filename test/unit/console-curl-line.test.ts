import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { type ApiCall, curlLine } from '../../services/console/api/curl-line.ts';

const run = promisify(execFile);

/** Runs a command in a shell in which `curl` prints its arguments. */
async function argumentsOf(call: ApiCall): Promise<string[]> {
  const script = `curl() { printf '%s\\0' "$@"; }\n${curlLine(call, 'https://consent.example.org')}`;
  const env = { TOKEN: 'a.b.c', PASSWORD: 'open sesame' };
  const { stdout } = await run('sh', ['-c', script], { env });
  return stdout.split('\0').slice(0, -1);
}

it('a call that reads is a command that a shell runs as it stands', async () => {
  expect(await argumentsOf({ method: 'GET', target: '/models?types=a,b&keyword=x%27y' })).toEqual([
    '-H',
    'Authorization: Bearer a.b.c',
    'https://consent.example.org/models?types=a,b&keyword=x%27y',
  ]);
});

it('quotes, dollars and line ends in a body reach the API unchanged, and secrets are variables', async () => {
  const body = { name: `it's "$HOME" \`id\`\n\\`, password: 'never shown', key: 'shown' };
  const call = { method: 'POST', target: '/accounts', body, ifMatch: '"7"', secret: ['password'] };
  expect(curlLine(call, '')).not.toContain('never shown');
  const given = await argumentsOf(call);
  expect(given.slice(0, 6)).toEqual([
    '-X',
    'POST',
    '-H',
    'Authorization: Bearer a.b.c',
    '-H',
    'If-Match: "7"',
  ]);
  expect(JSON.parse(given.at(-2) as string)).toEqual({ ...body, password: 'open sesame' });
});

it('an upload is read from a file of the same name', async () => {
  const file = new File(['x'], "our 'logo'.png", { type: 'image/png' });
  const given = await argumentsOf({ method: 'PUT', target: '/models/1/logo', file });
  expect(given.slice(4, 8)).toEqual(['-H', 'Content-Type: image/png', '--data-binary', `@our 'logo'.png`]);
});
