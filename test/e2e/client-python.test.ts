import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { findPython } from '../infrastructure/python.ts';
import { readContract } from '../support/contract/contract.ts';
import { createKey } from '../support/instances/callers.ts';
import { useInstance, useSetup } from '../support/instances/instance.ts';
import { temporaryFolder } from '../support/programs/temporary-folder.ts';

const run = promisify(execFile);
const python = await findPython();
const folder = path.join(import.meta.dirname, '..', '..', 'clients', 'python');
const readme = readFileSync(path.join(folder, 'README.md'), 'utf8');

describe.skipIf(!python)('the client for Python', () => {
  const instance = useInstance();
  const shop = useSetup(() => createKey(instance));

  it('is a package that can be installed, with types, whose tests and first example work', async () => {
    const work = await temporaryFolder();
    const at = (name: string) => path.join(work, name);
    await run(python as string, ['-m', 'venv', at('venv')]);
    const inside = (words: string[]) =>
      run(at('venv/bin/python'), words, {
        cwd: work,
        env: {
          ...process.env,
          ACCORD_URL: instance.url,
          ACCORD_KEY: shop.key,
          ACCORD_CONTRACT: at('openapi.json'),
        },
      });
    await inside(['-m', 'pip', 'install', '--quiet', folder, 'mypy==2.4.1']);
    const example = readme.split('```python\n')[1]?.split('```')[0] ?? '';
    await writeFile(at('first.py'), example.replace('http://localhost:8080', instance.url));
    await writeFile(at('openapi.json'), JSON.stringify(readContract()));

    const tests = path.join(folder, 'tests');
    const tested = inside(['-m', 'unittest', 'discover', '-s', tests]);
    for (const what of [
      ['-p', 'accord_client'],
      ['first.py', tests],
    ])
      expect((await inside(['-m', 'mypy', '--strict', ...what])).stdout).toContain('Success');
    expect((await tested).stderr).toMatch(/^OK$/m);
    for (let time = 0; time < 2; time += 1) {
      const { stdout } = await inside(['first.py']);
      expect(JSON.parse(stdout.trim().split('\n').at(-1) ?? '')).toMatchObject({
        'processing.001': [{ value: 'accepted', status: 'VALID' }],
        'processing.002': [{ value: 'refused', status: 'VALID' }],
        'preference.001': [{ value: 'Once a month', status: 'VALID' }],
      });
    }
  }, 300_000);
});
