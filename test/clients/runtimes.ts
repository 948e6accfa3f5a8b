import { readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { cached } from '../infrastructure/cache-folder.ts';
import type { Client } from './clients.ts';
import { packedClient } from './packed-client.ts';
import versions from './versions.json' with { type: 'json' };
import { runProgram } from './workshop.ts';

/** `accord-client` as it is published, in a program that runs JavaScript and is kept between runs. */
function inRuntime(
  name: keyof typeof versions.runtimes,
  {
    install,
    setUp,
    check,
    flow,
  }: {
    install: string;
    setUp?: readonly string[];
    /** Checks the types of `first.ts`, and with it those of the package. */
    check?: readonly string[];
    flow: readonly string[];
  },
): Client {
  const version = versions.runtimes[name];
  return {
    name: `accord-client-${name}`,
    version,
    needs: ['npm'],
    stages: {
      async install({ at }) {
        const kept = await cached(`${name}-${version}`, async (cwd) => {
          await runProgram([...add, `${install}@${version}`], { cwd });
          if (setUp) await runProgram(setUp, { cwd });
        });
        await symlink(path.join(kept, 'node_modules', '.bin'), at('runtime'));
      },
      async generate({ write }) {
        await write('accord-client.tgz', await packedClient());
      },
      async compile({ at, run, takeDriver, write }) {
        await run(...add, './accord-client.tgz');
        await takeDriver('accord-client.mjs', 'driver.mjs');
        const example = await firstExample(at('node_modules/accord-client/README.md'));
        // The instance that there is.
        await write('first.mjs', example.replace("'http://localhost:8080'", 'process.env.ACCORD_URL'));
        await write('first.ts', example);
        if (check) await run(...check);
      },
    },
    flow,
  };
}

const add = ['npm', 'install', '--prefix', '.', '--silent', '--no-audit', '--no-fund', '--ignore-scripts'];

async function firstExample(readme: string): Promise<string> {
  return (await readFile(readme, 'utf8')).split('```js\n')[1]?.split('```')[0] ?? '';
}

const { platform, arch } = process;

/** The oldest Node.js that the package names, and today's Deno and Bun. */
export const ofRuntimes: readonly Client[] = [
  inRuntime('node', {
    install: `node-${platform}-${arch}`,
    flow: ['runtime/node', 'driver.mjs'],
  }),
  inRuntime('deno', {
    install: 'deno',
    check: ['runtime/deno', 'check', 'first.ts'],
    flow: ['runtime/deno', 'run', '--allow-net', '--allow-env', 'driver.mjs'],
  }),
  inRuntime('bun', {
    install: 'bun',
    setUp: ['node', 'node_modules/bun/install.js'],
    flow: ['runtime/bun', 'driver.mjs'],
  }),
];
